internal import ReachabilityFleet

extension GatewayAnswer {
  /// The answer to a request to store something.
  init(published result: Result<UInt64, FleetEngineError>) {
    self =
      switch result {
      case .success(let sequence): .stored(sequence)
      case .failure(.unexpectedLast): .refused
      case .failure(let error): .failed("\(error)")
      }
  }
}

extension AgentMessage {
  /// The changes or cells of the message, at least 1.
  var count: Int {
    switch content {
    case .changes(let batch): max(1, batch.changes.count)
    case .base(let part): max(1, part.cells.count)
    }
  }
}

extension FleetAgentChain.OwnMessage {
  /// What a stored message says; one that is not understood has no epoch.
  init(_ stored: FleetEngineStoredMessage, of agent: String) {
    if case .agent(let message)? = FleetWire.decode(stored.payload, subject: "\(FleetSubject.events(agent))") {
      self.init(message, sequence: stored.sequence)
    } else {
      self.init(sequence: stored.sequence, epoch: nil, to: 0)
    }
  }
}

extension GatewayMembership.Last {
  /// What a stored message about an agent says.
  init(_ stored: FleetEngineStoredMessage, of agent: String) {
    var content: NodeMessage.Content?
    if case .node(let message)? = FleetWire.decode(stored.payload, subject: "\(FleetSubject.node(agent))") {
      content = message.content
    }
    self.init(sequence: stored.sequence, content: content)
  }
}
