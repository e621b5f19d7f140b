internal import ReachabilityModel

extension FleetJudgement {
  /// The verdict that would follow if the agents whose votes count for a target had other votes; nil for an unknown target.
  static func decision(
    of id: String, in fold: FleetFold, replacing replaced: (_ agent: String, _ vote: TargetState?) -> TargetState?
  ) -> FleetQuorumRules.Decision? {
    guard let target = fold.targets[id] else { return nil }
    let votes = fold.votes(on: id, target).map { fold.vote(of: $0.agent, replaced($0.agent, $0.state)) }
    return FleetQuorumRules.decide(target.definition.quorum, votes)
  }

  /// The verdict that would follow if some agents were silent, among them those that checked the target before.
  static func decision(
    of id: String, in fold: FleetFold, silencing isSilent: (String) -> Bool
  ) -> FleetQuorumRules.Decision? {
    decision(of: id, in: fold) { agent, vote in
      // An agent that has left keeps its vote until another one has its place.
      fold.nodes[agent]?.state == .present && isSilent(agent) ? .unknown : vote
    }
  }
}
