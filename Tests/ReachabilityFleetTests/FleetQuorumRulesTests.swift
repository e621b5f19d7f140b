import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityFleet

@Suite("FleetQuorumRules")
struct FleetQuorumRulesTests {
  /// Votes as letters: u(p), d(own), r (unreachable), n (unknown), p(aused), - (none); each in a zone of its own.
  private static func votes(_ text: String, zone: (Int) -> String = { "z\($0)" }) -> [FleetQuorumRules.Vote] {
    text.enumerated().map { index, letter in
      let state: TargetState? =
        switch letter {
        case "u": .up
        case "d": .down
        case "r": .unreachable
        case "p": .paused
        case "n": .unknown
        default: nil
        }
      return FleetQuorumRules.Vote(agent: "a\(index)", zone: zone(index), state: state)
    }
  }

  @Test(
    "The majority of the voters decides, when at least half of the assigned agents vote",
    arguments: [
      ("", FleetVerdict.unknown), ("u", .up), ("d", .down), ("n", .unknown), ("-", .unknown), ("r", .unreachable),
      ("uu", .up), ("ud", .partial), ("dd", .down), ("dn", .unknown), ("un", .unknown), ("uuu", .up), ("uud", .partial),
      ("udd", .down), ("ddd", .down), ("ddn", .down), ("udn", .partial), ("dnn", .unknown), ("rru", .unreachable),
      ("rud", .partial), ("rrr", .unreachable), ("ppp", .paused), ("pp-", .unknown), ("ppu", .unknown), ("puu", .up),
      ("ddduu", .down), ("dduuu", .partial), ("ddnnn", .unknown), ("dddnn", .down), ("rrrdu", .unreachable),
      ("rrddd", .down),
    ])
  func majority(_ votes: String, _ verdict: FleetVerdict) {
    #expect(FleetQuorumRules.decide(FleetQuorumRule(), Self.votes(votes)).verdict == verdict)
  }

  @Test("An explicit quorum counts agents or a share of the voters, and never less than two of several")
  func thresholds() {
    func decide(_ rule: FleetQuorumRule, _ votes: String) -> FleetVerdict {
      FleetQuorumRules.decide(rule, Self.votes(votes)).verdict
    }
    #expect(decide(FleetQuorumRule(down: .count(3)), "dduuu") == .partial)
    #expect(decide(FleetQuorumRule(down: .count(3)), "ddduu") == .down)
    #expect(decide(FleetQuorumRule(down: .count(1)), "duuuu") == .partial)
    #expect(decide(FleetQuorumRule(down: .count(1)), "dduuu") == .down)
    #expect(decide(FleetQuorumRule(down: .percent(40)), "dduuu") == .down)
    #expect(decide(FleetQuorumRule(down: .percent(41)), "dduuu") == .partial)
    #expect(decide(FleetQuorumRule(down: .count(1)), "d") == .down)
    #expect(decide(FleetQuorumRule(minimum: .count(1)), "dn") == .unknown)
    #expect(decide(FleetQuorumRule(minimum: .percent(100)), "dddn") == .unknown)
  }

  @Test("The noes must come from as many zones as the rule says")
  func zones() {
    let rule = FleetQuorumRule(zones: 2)
    #expect(FleetQuorumRules.decide(rule, Self.votes("ddu") { _ in "a" }).verdict == .partial)
    #expect(FleetQuorumRules.decide(rule, Self.votes("ddu") { "z\($0)" }).verdict == .down)
  }

  @Test("Explains the decision")
  func explanation() {
    let decision = FleetQuorumRules.decide(FleetQuorumRule(), Self.votes("uuudn"))
    #expect(decision.verdict == .partial && decision.quorum == 3 && decision.minimum == 3)
    #expect(decision.downFrom == ["a3"] && decision.reason == nil)
    #expect(decision.votes.assigned == 5 && decision.votes.up == 3 && decision.votes.unknown == 1)
    #expect(FleetQuorumRules.decide(FleetQuorumRule(), []).reason == .unassigned)
    #expect(FleetQuorumRules.decide(FleetQuorumRule(), Self.votes("unn")).reason == .tooFewVotes)
  }

  @Test("One agent, or 40 percent without a vote, never make a target down that the rest reaches")
  func noFalseAlarm() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<1000 {
      let count = Int.random(in: 2...40, using: &random)
      var letters = Array(repeating: Character("u"), count: count)
      for index in 0..<count * 2 / 5 { letters[index] = ["n", "r", "-"].randomElement(using: &random) ?? "n" }
      letters[count - 1] = "d"
      letters.shuffle(using: &random)
      #expect(FleetQuorumRules.decide(FleetQuorumRule(), Self.votes(String(letters))).verdict != .down)
    }
  }
}
