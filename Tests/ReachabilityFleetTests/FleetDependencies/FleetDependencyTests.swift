import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// Verdicts of targets that depend on others, by the votes alone.
@Suite("Dependencies in the fold")
struct FleetDependencyTests {
  private static func entries(_ text: String) -> [TargetDependency] {
    text.split(separator: " ").map { TargetDependency(anyOf: $0.split(separator: "|").map(String.init)) }
  }

  /// A fleet of three agents whose votes a test writes as letters.
  struct Fleet {
    private(set) var fold = FleetFold(created: 1)
    private(set) var sequence: UInt64 = 0
    private var versions: [String: UInt64] = [:]
    private var numbers: [String: UInt64] = [:]

    init(agents: Int = 3) {
      for index in 0..<agents {
        let hello = NodeHello(role: .agent, zone: "z\(index)", version: "1")
        apply(.node(NodeMessage(id: "a\(index)", .hello(hello, restates: false))))
      }
    }

    mutating func apply(_ message: FleetMessage) {
      sequence += 1
      _ = fold.apply(message, sequence: sequence, time: Int64(sequence) * 1_000_000)
    }

    mutating func define(
      _ id: String, _ dependsOn: String = "", isPaused: Bool = false, quorum: FleetQuorumRule = .init()
    ) {
      var spec = TargetSpec()
      (spec.id, spec.target, spec.isPaused) = (id, "tcp://\(id):1", isPaused)
      spec.dependsOn = FleetDependencyTests.entries(dependsOn)
      versions[id, default: 0] += 1
      apply(
        .definition(
          DefinitionMessage(
            id: id, version: versions[id, default: 1], definition: FleetTarget(spec: spec, quorum: quorum))))
    }

    mutating func delete(_ id: String) {
      versions[id, default: 0] += 1
      apply(.definition(DefinitionMessage(id: id, version: versions[id, default: 1], definition: nil)))
    }

    /// One agent reports several targets in one message.
    mutating func say(_ agent: String, _ states: [(String, TargetState)]) {
      let first = numbers[agent, default: 0] + 1
      let changes = states.enumerated().map { index, each in
        FleetCellChange(
          number: first + UInt64(index), target: each.0, old: .unknown,
          cell: FleetCellState(each.1, since: Timestamp(microseconds: 0)), time: Timestamp(microseconds: 0))
      }
      let last = first + UInt64(changes.count) - 1
      numbers[agent] = last
      let batch = AgentChangeBatch(prev: first - 1, from: first, to: last, changes: changes)
      apply(.agent(AgentMessage(agent: agent, epoch: "e", after: 0, .changes(batch))))
    }

    /// u(p), d(own), r (unreachable), n (unknown), p(aused) of each agent.
    mutating func vote(_ id: String, _ votes: String) {
      for (index, letter) in votes.enumerated() {
        let states: [Character: TargetState] = ["u": .up, "d": .down, "r": .unreachable, "n": .unknown, "p": .paused]
        say("a\(index)", [(id, states[letter] ?? .unknown)])
      }
    }

    mutating func takeChanged() -> [String] { fold.takeChangedTargets() }

    func verdict(_ id: String, after verdict: FleetVerdict? = .up) -> String {
      guard let judgement = FleetJudgement(of: id, in: fold, after: verdict) else { return "none" }
      return judgement.dependency.map { "\(judgement.verdict) \($0)" } ?? "\(judgement.verdict)"
    }
  }

  @Test(
    "A target that fails with a broken entry is unreachable; one that answers is not",
    arguments: [
      ("ddd", "ddd", "unreachable core"), ("ddu", "ddd", "unreachable core"), ("ddu", "ddu", "unreachable core"),
      ("rrr", "ddd", "unreachable core"), ("rru", "ddd", "unreachable core"),
      // The parent works, or nothing is known.
      ("duu", "ddd", "down"), ("uuu", "ddd", "down"), ("nnn", "ddd", "down"), ("dnn", "ddd", "down"),
      ("ppp", "ddd", "down"), ("", "ddd", "down"),
      // A target that answers to some agents.
      ("ddd", "duu", "partial"), ("ddd", "uuu", "up"), ("ddd", "nnn", "unknown"), ("ddd", "rrr", "unreachable"),
    ])
  func votes(core: String, db: String, verdict: String) {
    var fleet = Fleet()
    fleet.define("core")
    fleet.define("db", "core")
    fleet.vote("db", db)
    fleet.vote("core", core)
    #expect(fleet.verdict("db") == verdict)
    #expect(fleet.verdict("db", after: nil) == verdict)
    // What was down before stays down.
    #expect(fleet.verdict("db", after: .down) == (verdict == "unreachable core" ? "down" : verdict))
  }

  @Test(
    "Entries are all needed, alternatives are not, and paused targets decide nothing",
    arguments: [
      ("a b", "duuu", "unreachable a"), ("a b", "uduu", "unreachable b"), ("a|b", "duuu", "down"),
      ("a|b", "dduu", "unreachable a"), ("a|b c", "uudu", "unreachable c"), ("a|b c|d", "dddu", "unreachable a"),
      ("a|b", "dpuu", "unreachable a"), ("a|b", "ppuu", "down"), ("a", "puuu", "down"), ("x", "uuuu", "down"),
      ("x|a", "duuu", "unreachable a"),
    ])
  func entries(dependsOn: String, parents: String, verdict: String) {
    var fleet = Fleet()
    fleet.define("db", dependsOn)
    fleet.vote("db", "ddd")
    // The order of messages does not matter: the parents are defined later.
    for (id, letter) in zip(["a", "b", "c", "d"], parents) {
      fleet.define(id, isPaused: letter == "p")
      fleet.vote(id, String(repeating: letter == "p" ? "d" : letter, count: 3))
    }
    #expect(fleet.verdict("db") == verdict)
  }

  @Test("The root is at the top, and moves with the votes; every change is one of the targets below")
  func root() {
    var fleet = Fleet()
    fleet.define("core")
    fleet.define("switch", "core")
    fleet.define("db", "switch")
    for id in ["core", "switch"] { fleet.vote(id, "uuu") }
    fleet.vote("db", "ddd")
    #expect(fleet.verdict("db") == "down")
    fleet.vote("switch", "ddd")
    #expect(fleet.verdict("db") == "unreachable switch" && fleet.verdict("switch") == "down")
    fleet.vote("core", "dd")
    #expect(fleet.verdict("db") == "unreachable core" && fleet.verdict("switch") == "unreachable core")
    #expect(fleet.fold.targets["db"]?.changedAt == fleet.sequence, "its verdict is computed at that message")
    // Another vote changes nothing below.
    let before = fleet.sequence
    fleet.vote("core", "ddd")
    #expect(fleet.fold.targets["db"]?.changedAt == before)
    fleet.vote("core", "uu")
    #expect(fleet.verdict("db") == "unreachable switch" && fleet.verdict("switch") == "down")
    fleet.delete("switch")
    #expect(fleet.verdict("db") == "down")
    fleet.define("switch", "core")
    fleet.vote("switch", "ddd")
    #expect(fleet.verdict("db") == "unreachable switch")
    fleet.define("db")
    #expect(fleet.verdict("db") == "down")
  }

  @Test("A message with the votes on a target and on what it depends on is judged as a whole")
  func oneMessage() {
    var fleet = Fleet()
    fleet.define("core", quorum: FleetQuorumRule(zones: 3))
    fleet.define("db", "core")
    for agent in ["a0", "a1"] { fleet.say(agent, [("db", .down), ("core", .down)]) }
    #expect(fleet.verdict("db") == "down", "two zones are not three")
    fleet.say("a2", [("db", .down), ("core", .down)])
    #expect(fleet.verdict("db") == "unreachable core")
    #expect(fleet.fold.targets["db"]?.changedAt == fleet.sequence)
  }

  @Test("Targets of a cycle, which two changes at one time can make, are no excuse for each other")
  func cycle() {
    var fleet = Fleet()
    fleet.define("a", "b")
    fleet.define("b", "c")
    fleet.define("c", "a")
    fleet.define("below", "a")
    for id in ["a", "b", "c", "below"] { fleet.vote(id, "ddd") }
    for id in ["a", "b", "c", "below"] { #expect(fleet.verdict(id) == "down") }
    fleet.define("self", "self")
    fleet.vote("self", "ddd")
    #expect(fleet.verdict("self") == "down")
    fleet.vote("c", "uuu")
    #expect(fleet.verdict("a") == "unreachable b" && fleet.verdict("below") == "unreachable b")
  }

  @Test("Agents are not given entries, whose change gives them no other list")
  func roster() {
    var fleet = Fleet()
    fleet.define("core")
    fleet.define("db")
    let before = FleetRoster(fleet.fold, of: "a0")
    fleet.define("db", "core")
    let after = FleetRoster(fleet.fold, of: "a0")
    #expect(after.hash == before.hash && after.checks == before.checks)
  }

  @Test("A proposal that only moves the root is accepted after its basis, is an event, and restates nothing")
  func moves() throws {
    var fleet = Fleet()
    fleet.define("core")
    fleet.define("switch", "core")
    fleet.define("db", "switch")
    fleet.vote("db", "ddd")
    fleet.vote("switch", "ddd")
    func message(_ from: FleetVerdict, _ root: String, _ basis: UInt64, _ prev: UInt64) -> VerdictMessage {
      VerdictMessage(
        target: "db", stream: 1, from: from, to: .unreachable, reason: .dependencyDown, votes: FleetVoteCounts(),
        basis: basis, attempt: 0, prev: prev, by: "r", dependency: root)
    }
    let basis = fleet.sequence
    fleet.apply(.verdict(message(.unknown, "switch", basis, 0)))
    let first = try #require(fleet.fold.targets["db"]?.verdict)
    fleet.apply(.verdict(message(.unreachable, "core", basis, first.sequence)))
    #expect(fleet.fold.targets["db"]?.verdict == first, "nothing has changed since")
    fleet.vote("core", "ddd")
    fleet.apply(.verdict(message(.unreachable, "core", fleet.sequence, first.sequence)))
    let second = try #require(fleet.fold.targets["db"]?.verdict)
    #expect(second.message.dependency == "core")
    let restated = second.restatement(prev: second.sequence, basis: second.message.basis, in: fleet.fold, by: "r")
    #expect(!restated.isMove && restated.dependency == "core")
    fleet.apply(.verdict(restated))
    #expect(fleet.fold.targets["db"]?.verdict?.since == second.since)
  }
}
