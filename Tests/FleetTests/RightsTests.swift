import JetStream
import ReachabilityFleet
import ReachabilityModel
import StatusAPI
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

  /// The documented rights, with passwords, in one server.
  private static func configuration() throws -> String {
    let user = try file("agent.conf").replacing("$NODE1_PASSWORD", with: "secret")
    try #require(user.contains("rx.ev.node1"))
    return """
      accounts { FLEET { jetstream: enabled, users: [
        { user: replica, password: secret }
        { \(user) }
        { \(user.replacing("node1", with: "node2")) }
      ] } }
      """
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
    let replica = try fixture.connect("nats://replica:secret@127.0.0.1:\(port)")
    _ = try FleetFixture.makeStream(replica)
    try FleetFixture.define(2, replica)
    let record = StreamRecord()
    let consumer = OrderedConsumer(replica, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let file = try fixture.directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      fleet: { id: node1, servers: ["nats://node1:secret@127.0.0.1:\(port)"] }
      """, as: "right.yaml")
    let agent = try Member(fixture.namespace, "agent", file)
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
      .node(NodeMessage(id: "node1", .bye(restarts: false))))
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
