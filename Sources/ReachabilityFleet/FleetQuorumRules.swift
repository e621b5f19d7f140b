public import ReachabilityModel

/// The rule from votes to a verdict: a pure function.
public enum FleetQuorumRules {
  /// The vote of an assigned agent.
  public struct Vote: Hashable, Sendable {
    /// The agent's id.
    public var agent: String
    /// Its zone; nodes of one zone fail together.
    public var zone: String
    /// What it says; nil before its first result.
    public var state: TargetState?
  }

  /// A verdict with what it is based on.
  public struct Decision: Hashable, Sendable {
    /// The verdict.
    public var verdict: FleetVerdict
    /// Why it is `unknown`.
    public var reason: Reason?
    /// The votes.
    public var votes: FleetVoteCounts
    /// The agents that say `down`, sorted; at most ``FleetLimits/namedAgents``.
    public var downFrom: [String]
    /// The votes that `down` needs.
    public var quorum: Int
    /// The voters that a verdict needs.
    public var minimum: Int
  }

  /// Decides.
  public static func decide(_ rule: FleetQuorumRule, _ votes: [Vote]) -> Decision {
    let counts = count(votes)
    // One agent of several must not decide alone, whatever the rule says.
    let least = counts.assigned >= 2 ? 2 : 1
    let minimum = max(needed(rule.minimum, of: counts.assigned) ?? (counts.assigned + 1) / 2, least)
    let quorum = max(needed(rule.down, of: counts.voters) ?? counts.voters / 2 + 1, least)
    var decision = Decision(
      verdict: .unknown, votes: counts, downFrom: [], quorum: quorum, minimum: minimum)
    if counts.down > 0 {
      let down = votes.lazy.filter { $0.state == .down }.map(\.agent).sorted()
      decision.downFrom = Array(down.prefix(FleetLimits.namedAgents))
    }
    (decision.verdict, decision.reason) = verdict(rule, votes, counts, quorum: quorum, minimum: minimum)
    return decision
  }

  private static func verdict(
    _ rule: FleetQuorumRule, _ votes: [Vote], _ counts: FleetVoteCounts, quorum: Int, minimum: Int
  ) -> (FleetVerdict, Reason?) {
    if counts.assigned == 0 { return (.unknown, .unassigned) }
    if counts.paused == counts.assigned { return (.paused, nil) }
    if counts.voters < minimum {
      return counts.unreachable >= minimum ? (.unreachable, nil) : (.unknown, .tooFewVotes)
    }
    if counts.down == 0 { return (.up, nil) }
    let zones = Set(votes.lazy.filter { $0.state == .down }.map(\.zone)).count
    return (counts.down >= quorum && zones >= rule.zones ? .down : .partial, nil)
  }

  private static func count(_ votes: [Vote]) -> FleetVoteCounts {
    var counts = FleetVoteCounts()
    counts.assigned = votes.count
    for vote in votes {
      switch vote.state {
      case .up: counts.up += 1
      case .down: counts.down += 1
      case .unreachable: counts.unreachable += 1
      case .paused: counts.paused += 1
      case .unknown, nil: counts.unknown += 1
      }
    }
    return counts
  }

  private static func needed(_ threshold: FleetQuorumRule.Threshold?, of whole: Int) -> Int? {
    switch threshold {
    case nil: nil
    case .count(let count): max(count, 1)
    case .percent(let percent): max((whole * min(max(percent, 1), 100) + 99) / 100, 1)
    }
  }
}

extension [FleetQuorumRules.Vote] {
  /// The votes if some of the agents were silent.
  func silencing(_ isSilent: (String) -> Bool) -> Self {
    map { isSilent($0.agent) ? Element(agent: $0.agent, zone: $0.zone, state: .unknown) : $0 }
  }
}
