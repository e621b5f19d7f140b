internal import NATSClient
internal import ReachabilityFleet

extension FleetEngineError {
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

extension NATSConnection {
  /// Sends a request of the fleet, and waits for the reply.
  func reply(
    to payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration
  ) throws(NATSError) -> [UInt8] {
    // Agents may publish where other agents answer: what they answer must be in a subject that they cannot guess.
    guard case .ask = subject else { return try request("\(subject)", payload, within: timeLimit).payload }
    return try ask("\(subject)", payload, replyPrefix: FleetReplySubject.answers, within: timeLimit).payload
  }
}
