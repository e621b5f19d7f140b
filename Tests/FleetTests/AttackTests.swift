import FleetAPI
import Locks
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// One hostile agent, with the permissions of an agent.
@Suite("Attacks of an agent", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct AttackTests {
  /// The first message of the agent's chain.
  private static let message = AgentMessage(
    agent: "evil", epoch: "e", after: 0,
    .changes(
      AgentChangeBatch(
        prev: 0, from: 1, to: 1,
        changes: [
          FleetCellChange(
            number: 1, target: "t1", old: .unknown, cell: FleetCellState(.down, since: Timestamp(microseconds: 1)),
            time: Timestamp(microseconds: 1))
        ])))

  private static var payloads: [[UInt8]] {
    [GatewayWire.encode(.publish(message)), Array("junk".utf8), []]
  }

  @Test(
    "No reply subject, header, publication or subscription of an agent changes what others say",
    arguments: NATSServer.Version.allCases)
  func table(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version)
    try fleet.define("t1")
    try fleet.expectUp("t1", votes: 2)
    let before = try quietCounts(fleet)
    let heard = Locked<[String]>([])
    let spy = try fleet.test.subscribe(">") { message in
      let subject = message.subject
      // What the attacker may send, and what replicas answer to it.
      if subject.hasPrefix("rx2.in.evil") || subject.hasPrefix("rx2.hb.evil") || subject.hasPrefix("_ANSWER.x") {
        return
      }
      if message.payload == Self.payloads[0] || message.payload == Self.payloads[1] {
        heard.withLock { $0.append(subject) }
      }
    }
    defer { spy.cancel() }
    let attacker = try RawClient(port: fleet.fixture.server.port, user: "evil", in: fleet.fixture.namespace)
    AttackTable.send(Self.payloads, over: attacker)
    #expect(!attacker.isClosed)
    let refused = attacker.refusals.count
    for subject in AttackTable.others { attacker.publish(subject, Self.payloads[0]) }
    #expect(attacker.refusals.count == refused + AttackTable.others.count, "\(attacker.refusals.suffix(3))")
    for subject in AttackTable.subscriptions {
      attacker.subscribe(subject)
      attacker.subscribe(subject, queue: FleetGatewayGroup.name)
    }
    #expect(attacker.refusals.count == refused + AttackTable.others.count + 2 * AttackTable.subscriptions.count)
    #expect(!attacker.isClosed)
    // Only the first message of its own chain is stored, once.
    let after = try quietCounts(fleet)
    #expect(after == before.merging(["rx2.ev.evil": 1]) { $1 }, "\(after) instead of \(before)")
    #expect(heard.withLock(\.self) == [])
    #expect(!fleet.fixture.server.log.contains("panic"))
    // The fleet lives: another target gets its verdict, and an agent's change arrives.
    try fleet.define("t2")
    try fleet.expectUp("t2", votes: 2)
    try fleet.fixture.flap()
    let last = try fleet.agents[0].lastChange()
    #expect(eventually { fleet.record.published("node1") >= last })
    #expect(fleet.record.faults("node1") == [])
  }

  /// The messages of each subject, when no more arrive: agents and replicas publish at their start.
  private func quietCounts(_ fleet: AttackedFleet) throws -> [String: Int] {
    var last = try fleet.counts()
    eventually {
      let present = try? fleet.counts()
      defer { last = present ?? last }
      return present == last
    }
    return last
  }

  @Test("A request of another agent's id is neither answered nor stored", arguments: NATSServer.Version.allCases)
  func otherID(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version, agents: ["node1"])
    let evil = try fleet.connect("evil")
    var forged = Self.message
    forged.agent = "node1"
    let answer = try fleet.request(.publish(forged), as: "evil", evil)
    #expect(answer == .rejected("the message is of another agent"))
    #expect(throws: NATSError.self) {
      try evil.request("rx2.in.node1", GatewayWire.encode(.publish(forged)), within: .milliseconds(300))
    }
    #expect(try fleet.counts()["rx2.ev.evil"] == nil)
  }
}

/// The group of the gateways, which a hostile agent would join.
enum FleetGatewayGroup { static let name = "replicas" }
