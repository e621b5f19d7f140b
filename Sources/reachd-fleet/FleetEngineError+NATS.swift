internal import NATSClient
internal import ReachabilityFleet

extension FleetEngineError {
  /// The engine's error in the terms of the fleet.
  init(_ error: NATSError) {
    switch error.kind {
    case .wrongLastSequence, .publishInProgress: self = .unexpectedLast
    case .timedOut: self = .timedOut
    case .disconnected: self = .disconnected
    case .noResponders: self = .noResponders
    case .notFound: self = .noStream
    // The store of the server is full, or the stream is and keeps what it has.
    case .refused(code: 10_023), .refused(code: 10_047), .refused(code: 10_077), .refused(code: 10_122): self = .full
    case .otherConfiguration, .tooLarge, .notPermitted, .refused, .failed: self = .failed("\(error)")
    }
  }
}
