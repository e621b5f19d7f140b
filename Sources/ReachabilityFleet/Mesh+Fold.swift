extension Mesh {
  /// The time between two checks of a pair of agents.
  public static let interval = Duration.seconds(10)
}

extension FleetFold {
  /// The targets of the mesh that an agent checks, with the addresses of the agents that they are.
  ///
  /// A lost agent is checked, too: silence on the engine does not mean that other agents cannot reach it.
  public func meshTargets(of agent: String) -> [String: String] {
    let own = Mesh.Peer(id: agent, zone: nodes[agent]?.hello?.zone ?? "")
    let peers = nodes.compactMap { id, node in
      node.isAgent && node.hello?.address != nil ? Mesh.Peer(id: id, zone: node.hello?.zone ?? "") : nil
    }
    let checked = Mesh.peers(of: own, among: peers).compactMap { id in
      nodes[id]?.hello?.address.map { (Mesh.target(of: id), $0) }
    }
    return Dictionary(checked) { first, _ in first }
  }

  /// What the agents say about each other, by the agent that is checked, with the default quorum.
  ///
  /// An agent without a path of its own and a silent one abstain, as with every target.
  public var meshDecisions: [String: QuorumRules.Decision] {
    var votes: [String: [QuorumRules.Vote]] = [:]
    for (id, node) in nodes where node.isAgent {
      for target in node.cells.keys {
        guard let checked = Mesh.agent(of: target), nodes[checked]?.isAgent == true else { continue }
        votes[checked, default: []].append(
          QuorumRules.Vote(agent: id, zone: node.hello?.zone ?? "", state: node.vote(target)?.state))
      }
    }
    return votes.mapValues { QuorumRules.decide(QuorumRule(), $0) }
  }
}
