import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// A verdict that depends on agents which may have fallen silent waits until they are heard or lost.
@Suite("Hold of verdicts for silent agents")
struct SilenceHoldTests {
  /// What an agent says, and whether its heartbeats are missing.
  struct Row: Sendable, CustomTestStringConvertible {
    /// The assigned agents: u(p), d(own), r (unreachable: its cable is cut), n (unknown), p(aused), - (no result), L (says
    /// up and was reported as lost); in upper case, or with !, those whose heartbeats are missing.
    var votes: String
    /// The agents that checked the target before, and whose votes count in place of missing ones; B left with a `bye`.
    var leaving = ""
    var rule = FleetQuorumRule()
    /// The zones of the assigned agents, as letters.
    var zones = ""
    /// What follows from the votes.
    var decided: FleetVerdict
    /// What is proposed; nil while it waits.
    var proposed: FleetVerdict?

    var testDescription: String { "\(votes) \(leaving)" }
  }

  @Test(
    "Down is proposed only if it also follows when overdue agents are silent",
    arguments: [
      // Five agents, two say down; the others were killed together, and two of them are reported.
      Row(votes: "ddULL", decided: .down, proposed: nil),
      Row(votes: "dduLL", decided: .down, proposed: .down),
      Row(votes: "dddLL", decided: .down, proposed: .down),
      Row(votes: "ddDLL", decided: .down, proposed: nil),
      // The silence of others does not matter.
      Row(votes: "dddUU", decided: .down, proposed: .down),
      Row(votes: "ddU", decided: .down, proposed: .down),
      Row(votes: "ddD", decided: .down, proposed: .down),
      // The silence of those that say down does.
      Row(votes: "dDu", decided: .down, proposed: nil),
      Row(votes: "DDDuu", decided: .down, proposed: nil),
      Row(votes: "dD", decided: .down, proposed: nil),
      Row(votes: "D", decided: .down, proposed: nil),
      Row(votes: "d", decided: .down, proposed: .down),
      Row(votes: "DDDDD", decided: .down, proposed: nil),
      // Those without a path.
      Row(votes: "dddrr", decided: .down, proposed: .down),
      Row(votes: "dddRR", decided: .down, proposed: .down),
      Row(votes: "ddDrr", decided: .down, proposed: nil),
      Row(votes: "ddrrr", decided: .unreachable, proposed: .unreachable),
      // Those that abstain for other reasons.
      Row(votes: "dddPP", decided: .down, proposed: .down),
      Row(votes: "dddNN", decided: .down, proposed: .down),
      Row(votes: "ddd!!", decided: .down, proposed: .down),
      Row(votes: "ddDpp", decided: .down, proposed: nil),
      Row(votes: "ddD--", decided: .down, proposed: nil),
      // Those that checked the target before.
      Row(votes: "---", leaving: "ddd", decided: .down, proposed: .down),
      Row(votes: "---", leaving: "dDD", decided: .down, proposed: nil),
      Row(votes: "d--", leaving: "d", decided: .down, proposed: .down),
      Row(votes: "d--", leaving: "D", decided: .down, proposed: nil),
      // One that has left in order sends no heartbeats, and its vote counts for 15 seconds.
      Row(votes: "d--", leaving: "B", decided: .down, proposed: .down),
      // The rule of the target.
      Row(votes: "ddUUU", rule: FleetQuorumRule(down: .count(2)), decided: .down, proposed: nil),
      Row(
        votes: "ddUUU", rule: FleetQuorumRule(down: .count(2), minimum: .count(2)), decided: .down, proposed: .down),
      Row(votes: "ddUL", rule: FleetQuorumRule(minimum: .percent(75)), decided: .down, proposed: nil),
      Row(votes: "dddD", rule: FleetQuorumRule(zones: 2), zones: "aaab", decided: .down, proposed: nil),
      Row(votes: "dddD", rule: FleetQuorumRule(zones: 2), zones: "aabb", decided: .down, proposed: .down),
      // Other verdicts do not wait for a missing heartbeat.
      Row(votes: "dUU", decided: .partial, proposed: .partial),
      Row(votes: "UUU", decided: .up, proposed: .up),
    ])
  func table(_ row: Row) throws {
    var fleet = Fleet(row)
    #expect(fleet.fold.decision(for: "t")?.verdict == row.decided)
    #expect(fleet.proposed == row.proposed)
    guard row.proposed == nil else { return }
    // All of them are heard: the verdict follows from the votes.
    fleet.hearAll()
    #expect(fleet.proposed == row.decided)
  }

  /// A fold with one target, and what a replica has received of its agents.
  private struct Fleet {
    var fold = FleetFold(created: 1)
    var silence = FleetSilenceTracker()
    private var proposer = FleetVerdictProposer(replica: "r")
    private var sequence: UInt64 = 0
    private var now = Duration.seconds(100)

    init(_ row: Row) {
      if !row.leaving.isEmpty {
        define(select: "old", row.rule, version: 1)
        for (index, letter) in row.leaving.enumerated() { begin("o\(index)", letter, "old", zone: "z") }
        define(select: "new", row.rule, version: 2)
        for (index, letter) in row.leaving.enumerated() where letter == "B" {
          apply(.node(NodeMessage(id: "o\(index)", .bye)))
        }
      } else {
        define(select: "new", row.rule, version: 1)
      }
      for (index, letter) in row.votes.enumerated() {
        let zone = row.zones.isEmpty ? "z\(index)" : String(Array(row.zones)[index])
        begin("a\(index)", letter, "new", zone: zone)
      }
      silence.begin(at: .zero)
      proposer.begin(at: .zero)
      let letters = zip(row.votes.indices, row.votes).map(\.1) + Array(row.leaving)
      for (id, letter) in zip(
        row.votes.indices.enumerated().map { "a\($0.offset)" }
          + row.leaving.indices.enumerated().map { "o\($0.offset)" }, letters)
      {
        silence.received(id, at: now - (letter.isUppercase || letter == "!" ? .milliseconds(2100) : .seconds(1)))
      }
    }

    var proposed: FleetVerdict? {
      mutating get {
        proposer.review(["t"], fold, at: now)
        return proposer.proposals(fold, silence, at: now).first?.to
      }
    }

    mutating func hearAll() {
      now += .seconds(2)
      for id in fold.nodes.keys { silence.received(id, at: now) }
    }

    private mutating func define(select: String, _ rule: FleetQuorumRule, version: UInt64) {
      var spec = TargetSpec()
      spec.id = "t"
      spec.target = "tcp://db:5432"
      let target = FleetTarget(spec: spec, placement: FleetPlacement(select: ["group": select]), quorum: rule)
      apply(.definition(DefinitionMessage(id: "t", version: version, definition: target)))
    }

    private mutating func begin(_ id: String, _ letter: Character, _ group: String, zone: String) {
      let hello = NodeHello(role: .agent, zone: zone, labels: ["group": group], version: "1")
      apply(.node(NodeMessage(id: id, .hello(hello, restates: false))))
      let state: TargetState? =
        switch letter.lowercased() {
        case "u", "l": .up
        case "d", "b": .down
        case "r": .unreachable
        case "p": .paused
        case "n": .unknown
        default: nil
        }
      if let state {
        let cell = FleetBaseCell("t", FleetCellState(state, since: Timestamp(microseconds: 0)))
        let part = FleetBasePart(prev: 0, number: 1, part: 1, of: 1, cells: [cell])
        apply(.agent(AgentMessage(agent: id, epoch: "e", after: 0, .base(part))))
      }
      guard letter == "L", let sequence = fold.nodes[id]?.helloSequence else { return }
      apply(.node(NodeMessage(id: id, .lost(hello: sequence, attributes: hello, by: "r"))))
    }

    private mutating func apply(_ message: FleetMessage) {
      sequence += 1
      _ = fold.apply(message, sequence: sequence, time: Int64(sequence) * 1_000_000)
    }
  }
}
