import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("What agents say about each other")
struct FleetMeshVotesTests {
  private var fold = FleetFold(created: 1)
  private var sequence: UInt64 = 0

  private mutating func apply(_ message: FleetMessage) {
    sequence += 1
    _ = fold.apply(message, sequence: sequence, time: Int64(sequence))
  }

  private mutating func hello(_ id: String, role: NodeHello.Role = .agent, address: Bool = true) {
    let hello = NodeHello(role: role, address: address ? "tcp://\(id):8080" : nil, version: "1")
    apply(.node(NodeMessage(id: id, .hello(hello, restates: false))))
  }

  /// An agent reports an agent as down.
  private mutating func say(_ agent: String, _ checked: String) {
    let number = (fold.nodes[agent]?.highWater ?? 0) + 1
    let change = FleetCellChange(
      number: number, target: FleetMesh.target(of: checked), old: .unknown, cell: FleetFoldTests.cell(.down),
      time: Timestamp(microseconds: 0))
    apply(
      .agent(
        AgentMessage(
          agent: agent, epoch: "e", after: 0,
          .changes(AgentChangeBatch(prev: number - 1, from: number, to: number, changes: [change])))))
  }

  private func decision(_ checked: String) -> FleetQuorumRules.Decision? {
    fold.meshDecisions(FleetMeshChecks(fold)) { _ in false }[checked]
  }

  @Test(
    "Only agents that have to check an agent have a vote about it",
    arguments: [
      ("a", "b", true), ("quiet", "b", true), ("b", "b", false), ("a", "quiet", false), ("a", "r", false),
      ("a", "none", false), ("a", "left", false), ("left", "b", false), ("r", "b", false),
    ])
  mutating func votes(_ agent: String, _ checked: String, _ counts: Bool) {
    for id in ["a", "b", "left"] { hello(id) }
    hello("quiet", address: false)
    hello("r", role: .replica)
    say(agent, checked)
    apply(.node(NodeMessage(id: "left", .bye)))
    #expect((decision(checked)?.votes.down ?? 0) == (counts ? 1 : 0))
  }

  @Test("In a large fleet, one agent's cells about all others count for those that it checks")
  mutating func large() {
    let ids = (0..<60).map { "n\($0)" }
    for id in ids { hello(id) }
    for id in ids { say("n0", id) }
    let checks = FleetMeshChecks(fold)
    let counted = ids.filter { decision($0) != nil }
    #expect(counted.map(FleetMesh.target(of:)).sorted() == fold.meshTargets(of: "n0").keys.sorted())
    #expect(counted.count == FleetMesh.degree && !counted.contains("n0"))
    #expect(checks.isCurrent(for: fold))
    hello("another")
    #expect(!checks.isCurrent(for: fold))
  }
}
