internal import JetStream
internal import ReachabilityFleet

extension FleetEngineError {
  /// The engine's error in the terms of the fleet.
  init(_ error: JetStreamError) {
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

extension JetStreamLastMessageExpectation {
  init(_ expectation: FleetEngineExpectedLast) {
    switch expectation {
    case .none: self = .none
    case .sequence(let sequence): self = .sequence(sequence)
    }
  }
}

extension FleetEngineStoredMessage {
  /// A copy that a server wrote for a client has no payload here, so that it is no message of the fleet.
  init(_ message: JetStreamMessage) {
    self.init(
      subject: message.subject, sequence: message.sequence, time: message.time,
      payload: message.isCopy ? [] : message.payload)
  }
}

extension FleetEngineStreamState {
  /// The server reports 0 as the first sequence of a stream that never had a message; of one that lost all of them, the
  /// next sequence.
  init(_ status: JetStreamStatus) {
    self.init(
      created: status.created, first: max(status.firstSequence, 1), last: status.lastSequence,
      hasQuorum: status.hasQuorum)
  }
}
