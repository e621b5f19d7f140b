extension FleetMesh {
  /// The time between two checks of a pair of agents.
  public static let interval = Duration.seconds(10)
}

extension FleetFold {
  /// The targets of the mesh that an agent checks, with the addresses of the agents that they are.
  ///
  /// A lost agent is checked, too: silence on the engine does not mean that other agents cannot reach it.
  public func meshTargets(of agent: String) -> [String: String] {
    let own = FleetMesh.Peer(id: agent, zone: nodes[agent]?.hello?.zone ?? "")
    let peers = nodes.compactMap { id, node in
      node.isAgent && node.hello?.address != nil ? FleetMesh.Peer(id: id, zone: node.hello?.zone ?? "") : nil
    }
    let checked = FleetMesh.peers(of: own, among: peers).compactMap { id in
      nodes[id]?.hello?.address.map { (FleetMesh.target(of: id), $0) }
    }
    return Dictionary(checked) { first, _ in first }
  }

  /// What the agents say about each other, by the agent that is checked, with the default quorum.
  ///
  /// An agent without a path of its own and a silent one abstain, as with every target.
  ///
  /// - Parameters:
  ///   - checks: which agents check which: others have no vote, and no agent has one about itself.
  ///   - isOverdue: whether an agent may have fallen silent: `down` has to follow without its vote, too.
  /// - Returns: the decisions.
  public func meshDecisions(
    _ checks: FleetMeshChecks, silencing isOverdue: (String) -> Bool
  ) -> [String: FleetQuorumRules.Decision] {
    var votes: [String: [FleetQuorumRules.Vote]] = [:]
    for (id, node) in nodes where node.isAgent {
      for target in node.cells.keys {
        guard let checked = FleetMesh.agent(of: target), checks.contains(checked, checkedBy: id) else { continue }
        votes[checked, default: []].append(
          FleetQuorumRules.Vote(agent: id, zone: node.hello?.zone ?? "", state: node.vote(target)?.state))
      }
    }
    return votes.mapValues { votes in
      let decision = FleetQuorumRules.decide(FleetQuorumRule(), votes)
      guard decision.verdict == .down else { return decision }
      let silenced = FleetQuorumRules.decide(FleetQuorumRule(), votes.silencing(isOverdue))
      return silenced.verdict == .down ? decision : silenced
    }
  }
}
