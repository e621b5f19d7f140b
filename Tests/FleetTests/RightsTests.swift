import JetStream
import ReachabilityFleet
import ReachabilityModel
import FleetAPI
import TestSupport
import Testing

/// deploy/fleet/agent.conf against both servers.
@Suite("Rights of agents", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct RightsTests {
  private static func file(_ name: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    let child = try Child("/bin/cat", [root + "/deploy/fleet/" + name])
    try child.wait()
    return child.output
  }

  /// The documented accounts, with passwords, in one server, and a user for the test itself.
  private static func configuration() throws -> String {
    let user = try file("agent.conf").replacing("$NODE1_PASSWORD", with: "secret")
    try #require(user.contains("rx.ev.node1"))
    let text = try file("nats.conf")
    var accounts = try String(text[#require(text.firstRange(of: "accounts {")).lowerBound...])
    for node in ["node1", "node2", "node3"] {
      accounts.replace("include \"\(node).conf\"", with: user.replacing("node1", with: node))
    }
    accounts.replace("users: [", with: "users: [\n{ user: test, password: secret }")
    return accounts.replacing("$REPLICA_PASSWORD", with: "secret")
  }

  /// Starts a replica or an agent with the documented user.
  private static func start(_ role: String, _ id: String, user: String, _ fixture: FleetFixture) throws -> Member {
    let file = try fixture.directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      fleet: { id: \(id), servers: ["nats://\(user):secret@127.0.0.1:\(fixture.server.port)"] }
      """, as: "\(id).yaml")
    return try Member(fixture.namespace, role, file)
  }

  @Test(
    "A replica works with the documented rights, and cannot delete the stream or publish as an agent",
    arguments: NATSServer.Version.allCases)
  func replicaRights(_ version: NATSServer.Version) throws {
    let fixture = try FleetFixture(version, Self.configuration())
    let replica = try Self.start("replica", "replica1", user: "replica", fixture)
    let agent = try Self.start("agent", "node1", user: "node1", fixture)
    let body = #"{"target":"route://10.9.0.9"}"#
    let arguments = ["-sf", "-X", "PUT", "-H", "Content-Type: application/json", "-d", body]
    #expect(
      eventually { (try? replica.get("/fleet").contains("\"complete\":true")) == true }, "\(replica.child.errors)")
    try fixture.namespace.run("/usr/bin/curl", arguments + ["http://\(replica.address)/fleet/targets/t1"])
    #expect(eventually { (try? replica.get("/fleet/targets/t1").contains("\"verdict\":\"up\"")) == true })
    agent.child.kill()
    // It is asked by a request, and reported by a message.
    #expect(eventually { (try? replica.get("/fleet/agents/node1").contains("\"state\":\"lost\"")) == true })
    #expect(!replica.child.errors.contains("Permissions"), "\(replica.child.errors)")
    let user = try fixture.namespace.run { () throws(JetStreamError) in
      try NATSConnection(
        NATSConfiguration(
          servers: ["nats://replica:secret@127.0.0.1:\(fixture.server.port)"], name: "attacker",
          inboxPrefix: "_INBOX.replica.x")
      ) { _ in }
    }
    #expect(eventually { user.isConnected })
    #expect(throws: JetStreamError.self) { try user.deleteStream("RX", within: .milliseconds(300)) }
    #expect(throws: JetStreamError.self) {
      try user.publish("rx.ev.node1", [0x7b], expecting: nil, within: .milliseconds(300))
    }
  }

  @Test("deploy/fleet/nats.conf is valid, for 2.9 without sync_interval", arguments: NATSServer.Version.allCases)
  func serverConfiguration(_ version: NATSServer.Version) throws {
    let directory = try TemporaryDirectory()
    let user = try Self.file("agent.conf")
    for node in ["node1", "node2", "node3"] {
      let own = user.replacing("node1", with: node).replacing("$NODE1_PASSWORD", with: "secret")
      _ = try directory.write(own, as: "\(node).conf")
    }
    var text = try Self.file("nats.conf").replacing("\"/data\"", with: "\"\(directory.path)/data\"")
    if version == .debian { text = text.replacing("sync_interval: always", with: "") }
    let file = try directory.write(text, as: "nats.conf")
    let environment = ["SERVER_NAME": "nats1", "REPLICA_PASSWORD": "secret"]
    let child = try Child(version.program, ["-t", "-c", file], environment: environment)
    #expect(try child.wait() == .exited(0), "\(child.errors)")
  }

  @Test(
    "An agent works with the documented rights, and cannot publish as another", arguments: NATSServer.Version.allCases)
  func rights(_ version: NATSServer.Version) throws {
    let fixture = try FleetFixture(version, Self.configuration())
    let port = fixture.server.port
    let replica = try fixture.connect("nats://test:secret@127.0.0.1:\(port)")
    _ = try FleetFixture.makeStream(replica)
    try FleetFixture.define(2, replica)
    let record = StreamRecord()
    let consumer = JetStreamOrderedConsumer(replica, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let agent = try Self.start("agent", "node1", user: "node1", fixture)
    #expect(eventually { Set(record.changes("node1").map(\.target)).count == 2 }, "\(agent.child.errors)")
    #expect(try replica.request("rx.ask.node1", FleetRequests.ping, within: .seconds(2)).payload.isEmpty == false)
    #expect(!agent.child.errors.contains("Permissions"), "\(agent.child.errors)")

    let attacker = try fixture.namespace.run { () throws(JetStreamError) in
      try NATSConnection(
        NATSConfiguration(
          servers: ["nats://node2:secret@127.0.0.1:\(port)"], name: "attacker", inboxPrefix: "_INBOX.agent.node2")
      ) { _ in }
    }
    #expect(eventually { attacker.isConnected })
    let forged = FleetWire.encode(
      .node(NodeMessage(id: "node1", .bye)))
    for subject in ["rx.ev.node1", "rx.node.node1", "rx.verdict.t1", "rx.target.t1"] {
      #expect(throws: JetStreamError.self, "\(subject)") {
        try attacker.publish(subject, forged, expecting: nil, within: .milliseconds(300))
      }
    }
    // Its own message may be copied to the other's subject by a server, but is not a message there.
    let own = try attacker.publish("rx.node.node2", forged, expecting: nil, within: .seconds(3))
    try attacker.publish("$JS.API.DIRECT.GET.RX", Array("{\"seq\":\(own)}".utf8), reply: "rx.node.node1")
    for request in ["CONSUMER.CREATE.RX", "CONSUMER.DURABLE.CREATE.RX.c", "STREAM.DELETE.RX", "STREAM.UPDATE.RX"] {
      #expect(throws: JetStreamError.self, "\(request)") {
        try attacker.request("$JS.API.\(request)", Array("{}".utf8), within: .milliseconds(300))
      }
    }
    #expect(eventually { (try? replica.stream("RX", within: .seconds(3)).lastSequence).map { $0 > own } == true })
    #expect(record.nodes("node1").allSatisfy { if case .hello = $0 { true } else { false } })
    #expect(try replica.stream("RX", within: .seconds(3)).messages > 0)
  }
}
