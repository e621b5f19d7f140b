internal import ReachabilityModel

extension FleetFold {
  /// Applies a start or an end of a node.
  mutating func apply(_ message: NodeMessage) -> [FleetEvent.Content] {
    let state = nodes[message.id]?.hello == nil ? nil : nodes[message.id]?.state
    switch message.content {
    case .hello(let hello, let restates, _): return start(message.id, hello, restates: restates, was: state)
    case .bye:
      guard state == .present || state == .lost else { return [] }
      enter(.left, message.id)
      markPeers(of: message.id, nodes[message.id]?.hello?.address)
      reassign(concerning: message.id)
      return [.node(message.id, .left, nil)]
    case .lost(let hello, let attributes, _):
      // A reader that began after the `hello` has not received its sequence.
      guard state == nil || state == .present && nodes[message.id]?.helloSequence == hello else { return [] }
      nodes[message.id, default: FleetFoldedNode()].hello = attributes
      nodes[message.id]?.helloSequence = hello
      enter(.lost, message.id)
      // A lost agent that receives the hint says `hello` again.
      rosterChanges.mark([message.id])
      reassign(concerning: message.id)
      return [.node(message.id, .lost, nil)]
    }
  }

  private mutating func start(
    _ id: String, _ hello: NodeHello, restates: Bool, was state: FleetNodeState?
  ) -> [FleetEvent.Content] {
    let isChange = state != .present || nodes[id]?.hello != hello
    let address = nodes[id]?.hello?.address
    nodes[id, default: FleetFoldedNode()].hello = hello
    nodes[id]?.helloSequence = sequence
    nodes[id]?.helloTime = time
    if state != .present {
      // What it said before its silence may be out of date.
      if state != nil { nodes[id]?.awaitsBase = true }
      enter(.present, id)
    }
    if isChange {
      rosterChanges.mark([id])
      if state != .present || address != hello.address { markPeers(of: id, address ?? hello.address) }
      reassign(concerning: id)
    }
    return !restates || state == .lost || state == .left ? [.node(id, .present, hello)] : []
  }

  private mutating func enter(_ state: FleetNodeState, _ id: String) {
    nodes[id]?.state = state
    nodes[id]?.since = time
  }

  /// Notes that agents may begin or end to check another one, which has or had an address.
  private mutating func markPeers(of id: String, _ address: String?) {
    guard address != nil else { return }
    rosterChanges.mark(nodes.keys)
  }

  // MARK: - Assignment

  /// The agents that may check targets, and those of them that are lost.
  var candidates: [FleetAssignment.Candidate] { nodes.compactMap { id, node in node.candidate(id) } }

  /// Assigns all targets again after a node has changed.
  private mutating func reassign(concerning node: String) {
    reassign()
    markTargets(of: node)
  }

  /// Assigns all targets again.
  mutating func reassign() {
    let candidates = candidates
    var agents: [FleetPlacement: [String]] = [:]
    for (id, target) in targets {
      let placement = target.definition.placement
      // Without a count, the agents do not depend on the target.
      let shared = placement.count == nil ? agents[placement] : nil
      let assigned = shared ?? FleetAssignment.agents(for: id, placement, among: candidates)
      agents[placement] = assigned
      assign(assigned, to: id)
    }
  }

  /// Assigns a target to agents.
  mutating func assign(_ assigned: [String], to id: String) {
    guard var target = targets[id], assigned != target.assigned else { return }
    rosterChanges.mark(Set(target.assigned).symmetricDifference(assigned))
    let until = time + FleetLimits.handOver.nanoseconds
    target.leaving = target.leaving.filter { $0.value > time }
    let removed = target.assign(assigned) { nodes[$0]?.vote(id)?.state }
    for agent in removed where nodes[agent].map({ $0.state != .lost }) ?? false { target.leaving[agent] = until }
    if !target.leaving.isEmpty { for agent in assigned { target.leaving[agent] = nil } }
    targets[id] = target
    markChanged(id)
  }
}

extension Timestamp {
  /// Nanoseconds since 1970; another process may have sent a time that no clock has.
  var clampedNanoseconds: Int64 {
    let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? (microseconds < 0 ? .min : .max) : nanoseconds
  }
}

extension Duration {
  /// Whole nanoseconds.
  var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
