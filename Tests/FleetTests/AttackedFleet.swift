import FleetAPI
import JetStream
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// A fleet with the permissions of `reachd-fleet config engine`, in which a test has the credentials of one agent.
final class AttackedFleet: Sendable {
  let fixture: FleetFixture
  let agents: [Member]
  /// A connection without limits.
  let test: NATSConnection
  let record: StreamRecord
  private let consumer: JetStreamOrderedConsumer

  var replica: Member { fixture.replica }

  /// Starts the replica `replica1`, and agents; the user `evil` has no process.
  init(_ version: NATSServer.Version, agents ids: [String] = ["node1", "node2"]) throws {
    let configuration = try EngineAccounts.configuration(agents: ids + ["evil"])
    let fixture = try FleetFixture(version, configuration, user: "replica1:secret@")
    self.fixture = fixture
    test = try fixture.connect("nats://test:secret@127.0.0.1:\(fixture.server.port)")
    _ = try FleetFixture.makeStream(test)
    let record = StreamRecord()
    self.record = record
    consumer = JetStreamOrderedConsumer(test, stream: FleetSubject.stream, from: 1) { record.add($0) }
    agents = try ids.map { id in
      let file = try fixture.directory.write(
        """
        listen: 127.0.0.1:0
        drainDelay: 0s
        data: \(fixture.directory.path)/\(id)
        store: { runtime: \(fixture.directory.path) }
        fleet: { id: \(id), servers: ["nats://\(id):secret@127.0.0.1:\(fixture.server.port)"] }
        """, as: "\(id).yaml")
      return try Member(fixture.namespace, "agent", file)
    }
  }

  deinit { consumer.cancel() }

  /// Connects as a user.
  func connect(_ user: String, inbox: String? = nil) throws -> NATSConnection {
    let url = "nats://\(user):secret@127.0.0.1:\(fixture.server.port)"
    let connection = try fixture.namespace.run { () throws(NATSError) in
      try NATSConnection(
        NATSConfiguration(servers: [url], name: "attacker", inboxPrefix: inbox ?? FleetReplySubject.inbox(of: user))
      ) { _ in }
    }
    guard eventually({ connection.isConnected }) else { throw TestError("not connected") }
    return connection
  }

  /// Defines a target that needs only a route.
  func define(_ id: String) throws {
    let body = #"{"target":"route://10.9.0.9"}"#
    try fixture.namespace.run(
      "/usr/bin/curl",
      [
        "-sf", "-X", "PUT", "-H", "Content-Type: application/json", "-d", body,
        "http://\(replica.address)/fleet/targets/\(id)",
      ])
  }

  /// Waits until a target is up by as many votes.
  func expectUp(_ id: String, votes: Int, _ location: SourceLocation = #_sourceLocation) throws {
    let isUp = eventually {
      let target = try? replica.get("/fleet/targets/\(id)")
      return target?.contains("\"verdict\":\"up\"") == true && target?.contains("\"up\":\(votes),") == true
    }
    #expect(isUp, "\((try? replica.get("/fleet/targets/\(id)")) ?? "")", sourceLocation: location)
  }

  /// Sends a request of an agent, as that agent.
  func request(
    _ request: GatewayRequest, as agent: String, _ connection: NATSConnection
  ) throws -> GatewayAnswer? {
    try GatewayWire.answer(
      connection.request("\(FleetSubject.request(agent))", GatewayWire.encode(request), within: .seconds(5)).payload)
  }

  /// The messages of each subject of the stream.
  func counts() throws -> [String: Int] {
    let reply = try test.request(
      "$JS.API.STREAM.INFO.\(FleetSubject.stream)", Array(#"{"subjects_filter":">"}"#.utf8), within: .seconds(5))
    guard case .object(let subjects)? = try JSONValue(bytes: reply.payload)["state"]?["subjects"] else { return [:] }
    return subjects.compactMapValues { $0.integer }
  }
}
