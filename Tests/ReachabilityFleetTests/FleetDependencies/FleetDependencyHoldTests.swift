import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// The wait of `down` for the targets that a target depends on.
@Suite("Hold of verdicts for dependencies")
struct FleetDependencyHoldTests {
  /// A replica, whose agents answer as a test says.
  private struct Replica {
    var fleet: FleetDependencyTests.Fleet
    private var proposer = FleetVerdictProposer(replica: "r")
    private var silence = FleetSilenceTracker()
    var now = Duration.seconds(100)
    private(set) var asked: [FleetQuestion] = []

    init(agents: Int = 3) {
      fleet = FleetDependencyTests.Fleet(agents: agents)
      proposer.begin(at: .zero)
      silence.begin(at: .zero)
    }

    /// Reviews what has changed, and returns the verdicts that it proposes, which are accepted.
    mutating func propose() -> [String] {
      proposer.review(fleet.takeChanged(), fleet.fold, at: now)
      for id in fleet.fold.nodes.keys { silence.received(id, at: now) }
      let messages = proposer.proposals(fleet.fold, silence, at: now)
      asked += proposer.takeQuestions(at: now)
      for message in messages { fleet.apply(.verdict(message)) }
      return messages.map { message in
        "\(message.target) \(message.to)" + (message.dependency.map { " \($0)" } ?? "")
      }
    }

    /// All agents that were asked about a target have checked it; `.` for one that does not answer.
    mutating func answer(_ id: String, _ letters: String) {
      let states: [Character: TargetState] = ["u": .up, "d": .down, "r": .unreachable, "n": .unknown, "p": .paused]
      for question in asked where question.targets.contains(id) {
        guard let index = Int(question.agent.dropFirst()), let letter = Array(letters)[safe: index] else { continue }
        let cell = fleet.fold.nodes[question.agent]?.cells[id] ?? FleetCellState(.up, since: Timestamp(microseconds: 0))
        proposer.answered(question, states[letter].map { [FleetCheckResult(id, cell, last: $0)] }, at: now)
      }
      asked.removeAll { $0.targets.contains(id) }
    }

    mutating func wait(_ duration: Duration) { now += duration }
  }

  /// A router and a target behind it, both up, which then fails for all.
  private static func failed(agents: Int = 3) -> Replica {
    var replica = Replica(agents: agents)
    replica.fleet.define("core")
    replica.fleet.define("db", "core")
    let up = String(repeating: "u", count: agents)
    for id in ["core", "db"] { replica.fleet.vote(id, up) }
    _ = replica.propose()
    replica.fleet.vote("db", String(repeating: "d", count: agents))
    return replica
  }

  @Test(
    "A target that fails alone is down after the answers of its router's agents",
    arguments: ["uuu", "uu.", "uud", "udn"])
  func alone(answers: String) {
    var replica = Self.failed()
    #expect(replica.propose() == [])
    #expect(replica.asked.map(\.agent) == ["a0", "a1", "a2"] && replica.asked.allSatisfy { $0.targets == ["core"] })
    #expect(replica.asked.allSatisfy { $0.timeLimit == .seconds(11) })
    replica.answer("core", answers)
    #expect(replica.propose() == ["db down"])
  }

  @Test(
    "A router that fails is known by its votes, whichever answers come before",
    arguments: ["ddd", "dd.", "dud", "d.."])
  func router(answers: String) {
    var replica = Self.failed()
    #expect(replica.propose() == [])
    replica.answer("core", answers)
    #expect(replica.propose() == [], "the votes have to say it")
    replica.wait(.seconds(2))
    #expect(replica.propose() == [])
    replica.fleet.vote("core", "ddd")
    #expect(replica.propose() == ["core down", "db unreachable core"])
    #expect(replica.fleet.fold.targets["db"]?.verdict?.message.reason == .dependencyDown)
  }

  @Test("A wait ends, with answers that lead to no votes and without answers")
  func ends() {
    var silent = Self.failed()
    #expect(silent.propose() == [])
    silent.wait(.seconds(10))
    #expect(silent.propose() == [])
    silent.wait(.seconds(1))
    #expect(silent.propose() == ["db down"], "one second and twice the timeout")

    var lying = Self.failed()
    #expect(lying.propose() == [])
    lying.answer("core", "ddd")
    lying.wait(.seconds(23))
    #expect(lying.propose() == [])
    lying.wait(.seconds(1))
    #expect(lying.propose() == ["db down"], "and one second with two fast intervals and timeouts")

    // No agent is there: nothing is to wait for.
    var none = Self.failed()
    #expect(none.propose() == [])
    none.answer("core", "...")
    #expect(none.propose() == ["db down"])
  }

  @Test("A target that works again ends the wait, and the next failure begins another one")
  func recovered() {
    var replica = Self.failed()
    #expect(replica.propose() == [])
    replica.fleet.vote("db", "uuu")
    replica.answer("core", "uuu")
    #expect(replica.propose() == [])
    replica.wait(.seconds(2))
    replica.fleet.vote("db", "ddd")
    #expect(replica.propose() == [])
    #expect(replica.asked.count == 3, "what the router answered before is out of date")
  }

  @Test("After an outage, a target is checked before it is down, and then its router once more")
  func recovery() {
    var replica = Self.failed()
    replica.fleet.vote("core", "ddd")
    #expect(replica.propose() == ["core down", "db unreachable core"])
    replica.wait(.seconds(30))
    replica.fleet.vote("core", "uuu")
    #expect(replica.propose() == [])
    replica.wait(.seconds(2))
    #expect(replica.propose() == ["core up"])
    #expect(replica.asked.map(\.targets) == [["db"], ["db"], ["db"]])
    var dead = replica
    dead.answer("db", "ddd")
    #expect(dead.propose() == [])
    #expect(dead.asked.map(\.targets) == [["core"], ["core"], ["core"]])
    dead.answer("core", "uuu")
    #expect(dead.propose() == ["db down"])
    // One that answers, whose votes follow after `rise` checks.
    replica.answer("db", "uuu")
    replica.wait(.seconds(1))
    #expect(replica.propose() == [])
    replica.fleet.vote("db", "uuu")
    #expect(replica.propose() == ["db up"])
  }

  @Test("A thousand targets behind one router are one question, and one verdict down")
  func many() {
    var replica = Replica()
    replica.fleet.define("core")
    for number in 0..<1000 { replica.fleet.define("t\(number)", "core") }
    let all = (0..<1000).map { "t\($0)" }
    for agent in ["a0", "a1", "a2"] { replica.fleet.say(agent, (["core"] + all).map { ($0, .up) }) }
    _ = replica.propose()
    var verdicts: [String] = []
    for agent in ["a2", "a0", "a1"] {
      replica.fleet.say(agent, all.map { ($0, .down) })
      verdicts += replica.propose().filter { !$0.hasSuffix("partial") }
      replica.wait(.milliseconds(100))
    }
    #expect(verdicts == [])
    #expect(replica.asked.map(\.targets) == [["core"], ["core"], ["core"]])
    replica.answer("core", "ddd")
    #expect(replica.propose() == [])
    for agent in ["a2", "a0", "a1"] {
      replica.fleet.say(agent, [("core", .down)])
      verdicts += replica.propose().filter { !$0.hasSuffix("partial") }
    }
    #expect(verdicts.count == 1001 && verdicts.count { $0.hasSuffix("down") } == 1)
    #expect(verdicts.count { $0.hasSuffix("unreachable core") } == 1000)
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
