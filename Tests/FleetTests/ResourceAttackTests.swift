import FleetAPI
import NATSClient
import ReachabilityFleet
import TestSupport
import Testing

/// Messages and subscriptions of one agent that cost others much.
@Suite("Costly messages of an agent", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct ResourceAttackTests {
  /// As many lines as the permitted size has; reading one of them takes quadratic time.
  private static let headers = Array(
    ("NATS/1.0\r\n" + String(repeating: "Status:1\r\n", count: FleetPermissions.payloadBytes / 10 - 10) + "\r\n").utf8)

  @Test("No header of an agent's message is read: empty ones with many lines delay nothing")
  func headers() throws {
    let fleet = try AttackedFleet(.latest)
    try fleet.define("t1")
    try fleet.expectUp("t1", votes: 2)
    let attacker = try RawClient(port: fleet.fixture.server.port, user: "evil", in: fleet.fixture.namespace)
    for _ in 0..<100 {
      for subject in AttackTable.permitted("evil") {
        attacker.publish(subject, reply: "_INBOX.agent.evil.x", [], header: Self.headers)
      }
    }
    #expect(!attacker.isClosed && attacker.refusals.isEmpty, "\(attacker.refusals)")
    try fleet.fixture.flap()
    for (index, agent) in fleet.agents.enumerated() {
      let last = try agent.lastChange()
      #expect(eventually { fleet.record.published("node\(index + 1)") >= last })
    }
    #expect(try !fleet.replica.get("/fleet/agents").contains("\"lost\""))
    #expect(!fleet.replica.child.errors.contains("agent lost"))
  }

  @Test("An answer without payload counts as none, whatever its headers are")
  func emptyAnswer() throws {
    let fleet = try AttackedFleet(.latest, agents: ["node1"])
    let evil = try fleet.connect("evil")
    let answers = try evil.subscribe("rx2.ask.evil") { message in
      try? evil.publish(message.reply ?? "", [], sending: ["Status": "1"])
    }
    defer { answers.cancel() }
    let ping = FleetRequests.ping
    var error: NATSError?
    let isAnswered = eventually {
      do throws(NATSError) {
        _ = try fleet.test.ask("rx2.ask.evil", ping, replyPrefix: FleetReplySubject.answers, within: .seconds(5))
      } catch let failure {
        error = failure
      }
      return error?.kind == .noResponders
    }
    #expect(isAnswered, "\(String(describing: error))")
  }

  @Test("Subscriptions and bytes of a connection are limited", arguments: NATSServer.Version.allCases)
  func limits(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version, agents: ["node1"])
    let attacker = try RawClient(port: fleet.fixture.server.port, user: "evil", in: fleet.fixture.namespace)
    for number in 1...FleetPermissions.subscriptions + 20 {
      attacker.subscribe("_INBOX.agent.evil.x", number: number)
    }
    #expect(attacker.refusals.count >= 20 || attacker.isClosed, "\(attacker.refusals)")
    let other = try RawClient(port: fleet.fixture.server.port, user: "evil", in: fleet.fixture.namespace)
    other.publish("rx2.hb.evil", [UInt8](repeating: 0x20, count: FleetPermissions.payloadBytes))
    #expect(!other.isClosed)
    other.publish("rx2.hb.evil", [UInt8](repeating: 0x20, count: FleetPermissions.payloadBytes + 1))
    #expect(other.isClosed)
    // What the fleet needs is below the limits.
    try fleet.define("t1")
    try fleet.expectUp("t1", votes: 1)
  }
}
