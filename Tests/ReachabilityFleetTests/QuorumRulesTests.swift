import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

@Suite("QuorumRules")
struct QuorumRulesTests {
  /// Votes as letters: u(p), d(own), r (unreachable), n (unknown), p(aused), - (none); each in a zone of its own.
  private static func votes(_ text: String, zone: (Int) -> String = { "z\($0)" }) -> [QuorumRules.Vote] {
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
      return QuorumRules.Vote(agent: "a\(index)", zone: zone(index), state: state)
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
    #expect(QuorumRules.decide(QuorumRule(), Self.votes(votes)).verdict == verdict)
  }

  @Test("An explicit quorum counts agents or a share of the voters, and never less than two of several")
  func thresholds() {
    func decide(_ rule: QuorumRule, _ votes: String) -> FleetVerdict {
      QuorumRules.decide(rule, Self.votes(votes)).verdict
    }
    #expect(decide(QuorumRule(down: .count(3)), "dduuu") == .partial)
    #expect(decide(QuorumRule(down: .count(3)), "ddduu") == .down)
    #expect(decide(QuorumRule(down: .count(1)), "duuuu") == .partial)
    #expect(decide(QuorumRule(down: .count(1)), "dduuu") == .down)
    #expect(decide(QuorumRule(down: .percent(40)), "dduuu") == .down)
    #expect(decide(QuorumRule(down: .percent(41)), "dduuu") == .partial)
    #expect(decide(QuorumRule(down: .count(1)), "d") == .down)
    #expect(decide(QuorumRule(minimum: .count(1)), "dn") == .unknown)
    #expect(decide(QuorumRule(minimum: .percent(100)), "dddn") == .unknown)
  }

  @Test("The noes must come from as many zones as the rule says")
  func zones() {
    let rule = QuorumRule(zones: 2)
    #expect(QuorumRules.decide(rule, Self.votes("ddu") { _ in "a" }).verdict == .partial)
    #expect(QuorumRules.decide(rule, Self.votes("ddu") { "z\($0)" }).verdict == .down)
  }

  @Test("Explains the decision")
  func explanation() {
    let decision = QuorumRules.decide(QuorumRule(), Self.votes("uuudn"))
    #expect(decision.verdict == .partial && decision.quorum == 3 && decision.minimum == 3)
    #expect(decision.downFrom == ["a3"] && decision.reason == nil)
    #expect(decision.votes.assigned == 5 && decision.votes.up == 3 && decision.votes.unknown == 1)
    #expect(QuorumRules.decide(QuorumRule(), []).reason == .unassigned)
    #expect(QuorumRules.decide(QuorumRule(), Self.votes("unn")).reason == .tooFewVotes)
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
      #expect(QuorumRules.decide(QuorumRule(), Self.votes(String(letters))).verdict != .down)
    }
  }
}
