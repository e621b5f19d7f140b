internal import JetStream
internal import ReachabilityFleet

extension JetStreamLastMessageExpectation {
  init(_ expectation: FleetEngineExpectedLast) {
    switch expectation {
    case .none: self = .none
    case .sequence(let sequence): self = .sequence(sequence)
    }
  }
}

extension FleetEngineStoredMessage {
  init(_ message: JetStreamMessage) {
    self.init(subject: message.subject, sequence: message.sequence, time: message.time, payload: message.payload)
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
