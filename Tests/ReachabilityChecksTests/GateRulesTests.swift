import ReachabilityModel
import Testing

@testable import ReachabilityChecks

/// The rules of a gate as a table: members and machine, and the reason why it is closed.
@Suite("GateRules")
struct GateRulesTests {
  /// A line of the table; `named` and `selected` have a letter for each member.
  struct Case: CustomTestStringConvertible, Sendable {
    var gate: String
    var named = ""
    var selected = ""
    var machine = ReachabilityStatus.reachable(.ethernetOrWiFi)
    var isTooLarge = false
    var reason: Reason?

    var testDescription: String { "\(gate) [\(named)] [\(selected)] \(machine)\(isTooLarge ? " too large" : "")" }
  }

  private static let letters: [Character: GateMemberState] = [
    "u": .up, "p": .paused, "s": .starting, "?": .unknown, "r": .unreachable, "d": .down, "n": .notRegistered,
  ]

  private static func counts(_ letters: String) throws -> GateCounts {
    try letters.reduce(into: GateCounts()) { counts, letter in counts[try #require(Self.letters[letter])] += 1 }
  }

  /// Gates in short: `n` names targets, `s` selects some, `m` needs a reachable machine, `w` a cellular one, `i` ignores paused
  /// targets; a quorum follows.
  private static func definition(_ text: String) throws -> GateDefinition {
    let words = text.split(separator: " ")
    let flags = words.first ?? ""
    var gate = GateDefinition(id: "app")
    if flags.contains("n") { gate.targets = ["a", "b"] }
    if flags.contains("s") { gate.selection = ["tier": "backend"] }
    if flags.contains("m") { gate.machine = .reachable }
    if flags.contains("w") { gate.machine = .connectionType(.wwan) }
    gate.ignoresPaused = flags.contains("i")
    if words.count > 1 { gate.atLeast = try #require(GateDefinition.Quorum(String(words[1]))) }
    return gate
  }

  @Test(
    "The first reason that applies closes a gate",
    arguments: [
      Case(gate: "n", named: "uu", reason: nil),
      Case(gate: "n", named: "ud", reason: .missing),
      Case(gate: "n", named: "ur", reason: .missing),
      Case(gate: "n", named: "u?", reason: .missing),
      Case(gate: "n", named: "us", reason: .starting),
      Case(gate: "n", named: "ds", reason: .missing),
      Case(gate: "n", named: "un", reason: .notRegistered),
      Case(gate: "n", named: "dn", reason: .notRegistered),
      Case(gate: "n", named: "up", reason: .missing),
      Case(gate: "ni", named: "up", reason: nil),
      Case(gate: "ni", named: "pp", reason: .noMembers),
      Case(gate: "nm", named: "un", machine: .notReachable, reason: .notRegistered),
      Case(gate: "nm", named: "ud", machine: .notReachable, reason: .machine),
      Case(gate: "nm", named: "uu", machine: .unknown, reason: .machine),
      Case(gate: "nm", named: "uu", reason: nil),
      Case(gate: "m", reason: nil),
      Case(gate: "m", machine: .reachable(.wwan), reason: nil),
      Case(gate: "m", machine: .notReachable, reason: .machine),
      Case(gate: "w", reason: .machine),
      Case(gate: "w", machine: .reachable(.wwan), reason: nil),
      Case(gate: "s", reason: .noMembers),
      Case(gate: "sm", machine: .notReachable, reason: .noMembers),
      Case(gate: "s", selected: "uuu", reason: nil),
      Case(gate: "s", selected: "uud", reason: .missing),
      Case(gate: "s", selected: "uus", reason: .starting),
      Case(gate: "s 2", selected: "uud", reason: nil),
      Case(gate: "s 2", selected: "uds", reason: .starting),
      Case(gate: "s 2", selected: "udd", reason: .missing),
      Case(gate: "s 4", selected: "uuu", reason: .missing),
      Case(gate: "s 50%", selected: "ud", reason: nil),
      Case(gate: "s 50%", selected: "udd", reason: .missing),
      Case(gate: "s 50%", selected: "uud", reason: nil),
      Case(gate: "s 0.01%", selected: "ddd", reason: .missing),
      Case(gate: "s 0.01%", selected: "ddu", reason: nil),
      Case(gate: "s 100%", selected: "uup", reason: .missing),
      Case(gate: "si 100%", selected: "uup", reason: nil),
      Case(gate: "si", selected: "pp", reason: .noMembers),
      Case(gate: "s 2", selected: "upp", reason: .missing),
      Case(gate: "s", isTooLarge: true, reason: .tooManyMembers),
      Case(gate: "sm", machine: .notReachable, isTooLarge: true, reason: .tooManyMembers),
      Case(gate: "ns", named: "uu", reason: .noMembers),
      Case(gate: "ns 1", named: "uu", selected: "ud", reason: nil),
      Case(gate: "ns 1", named: "ud", selected: "uu", reason: .missing),
      Case(gate: "ns 1", named: "us", selected: "dd", reason: .missing),
      Case(gate: "ns 1", named: "us", selected: "ud", reason: .starting),
      Case(gate: "ns 1", named: "uu", selected: "sd", reason: .starting),
    ])
  func decisions(row: Case) throws {
    let reason = GateRules.obstacle(
      try Self.definition(row.gate), named: try Self.counts(row.named), selected: try Self.counts(row.selected),
      isTooLarge: row.isTooLarge, machine: row.machine)
    #expect(reason == row.reason)
  }

  @Test(
    "Quorums are numbers, percentages or all",
    arguments: [
      ("all", 7, 7), ("1", 7, 1), ("9", 7, 9), ("50%", 7, 4), ("50%", 8, 4), ("33.3%", 1_000, 333),
      ("33.34%", 1_000, 334),
      ("0.01%", 1, 1), ("100%", 3, 3), ("100.00%", 3, 3),
    ])
  func quorums(text: String, total: Int, needed: Int) throws {
    let quorum = try #require(GateDefinition.Quorum(text))
    #expect(quorum.needed(of: total) == needed)
    #expect(GateDefinition.Quorum(quorum.description) == quorum)
  }

  @Test(
    "Other texts are no quorums",
    arguments: [
      "", "0", "-1", "+1", "1.5", "ALL", "0%", "0.00%", "100.01%", "101%", "%", "50 %", "50%%", "1e3", "5,5%", ".5%",
      "0.001%", "9999999999", "５",
    ])
  func invalidQuorums(text: String) { #expect(GateDefinition.Quorum(text) == nil) }

  // MARK: - Times

  private static func moment(_ seconds: Double) -> ScheduleMoment {
    .init(uptime: .seconds(seconds), time: Timestamp(microseconds: Int64(seconds * 1_000_000)))
  }

  private static func apply(
    _ gate: inout GateSwitch, _ obstacle: Reason?, delay: Duration, at now: ScheduleMoment
  ) -> Bool {
    gate.apply(obstacle, delay: delay, at: now)
  }

  @Test("A gate opens when its conditions have held for the delay without interruption")
  func settling() {
    var gate = GateSwitch(at: Self.moment(0).time)
    #expect(!Self.apply(&gate, nil, delay: .seconds(5), at: Self.moment(1)))
    #expect(gate.reason == .settling && gate.opening(after: .seconds(5)) == .seconds(6))
    #expect(!Self.apply(&gate, nil, delay: .seconds(5), at: Self.moment(5.9)))
    #expect(!Self.apply(&gate, .missing, delay: .seconds(5), at: Self.moment(5.95)))
    #expect(gate.reason == .missing && gate.opening(after: .seconds(5)) == nil)
    #expect(!Self.apply(&gate, nil, delay: .seconds(5), at: Self.moment(6)))
    #expect(Self.apply(&gate, nil, delay: .seconds(5), at: Self.moment(11)))
    #expect(gate.state == .open && gate.reason == nil && gate.since == Self.moment(11).time)
  }

  @Test("A gate closes immediately, and opens again a second later at the earliest")
  func flapping() {
    var gate = GateSwitch(at: Self.moment(0).time)
    var changes = 0
    for tick in 0..<1_000 {
      let obstacle: Reason? = tick.isMultiple(of: 2) ? nil : .missing
      let isChange = gate.apply(obstacle, delay: .zero, at: Self.moment(Double(tick) / 100))
      if isChange { changes += 1 }
      if obstacle != nil { #expect(gate.state == .closed) }
    }
    #expect(changes == 20, "ten seconds, an opening and a closing each second")
  }

  @Test("A restored gate stays open while its conditions hold")
  func restored() {
    var gate = GateSwitch(restoring: .open, since: Self.moment(3).time)
    #expect(!Self.apply(&gate, nil, delay: .seconds(60), at: Self.moment(100)))
    #expect(gate.state == .open && gate.since == Self.moment(3).time)
    #expect(Self.apply(&gate, .starting, delay: .seconds(60), at: Self.moment(101)))
    #expect(gate.state == .closed && gate.reason == .starting)
  }
}
