extension FleetReplica {
  /// The requests of bases that are due, with the position after which they are needed.
  mutating func requestBases(at now: Duration) -> [Effect] {
    let position = fold.position
    return baseRequests.due(fold, at: now).map { .requestBase($0, after: position) }
  }

  /// How long ago everything that the stream had was read; nil while agents receive no list of what they check.
  public func rosterAge(at now: Duration) -> Duration? {
    guard isComplete, isConnected, lostFold == nil, let completion, rosterStart <= now else { return nil }
    return now - completion
  }

  /// The agents for which what they check has changed; none while they receive no list.
  public mutating func takeChangedRosters(at now: Duration) -> Set<String> {
    let changed = fold.rosterChanges.take()
    return rosterAge(at: now) == nil ? [] : changed
  }

  /// Folds the next message; returns what subscribers receive.
  mutating func apply(_ message: FleetMessage?, _ stored: FleetEngineStoredMessage) -> [Effect] {
    let before = fold.complete
    let events = fold.apply(message, sequence: stored.sequence, time: stored.time)
    let hole: [Effect] = before > 0 && fold.complete != before ? [.hole(before: fold.complete)] : []
    return events.isEmpty ? hole : hole + [.events(events)]
  }

  /// Heartbeats have arrived, by node.
  mutating func receive(_ heartbeats: [String: Duration]) -> [Effect] {
    for (node, time) in heartbeats where fold.nodes[node] != nil { silence.received(node, at: time) }
    return []
  }

  /// The engine has no subscription of an agent that was asked.
  mutating func noteAbsence(of agent: String, at now: Duration) -> [Effect] {
    silence.absent(agent, at: now)
    return isComplete && isConnected ? reportLost(at: now) : []
  }
}
