import FleetAPI
import JetStream
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// The first failed check of one agent.
@Suite("Checks after the first failure", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct SuspicionTests {
  /// A server that accepts connections.
  private static let listener = """
    import socket, sys
    listener = socket.create_server(("10.9.0.2", int(sys.argv[1])))
    print("ready", flush=True)
    while True: listener.accept()[0].close()
    """
  private static let port = 5432

  /// A target that is checked once a day, except after a failure.
  private static var definition: FleetTarget {
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://10.9.0.2:\(port)"
    spec.interval = .seconds(86_400)
    spec.fastInterval = .milliseconds(100)
    return FleetTarget(spec: spec)
  }

  @Test(
    "The other agents check a target at once after the first failure of one agent",
    arguments: NATSServer.Version.allCases)
  func others(_ version: NATSServer.Version) throws {
    let fixture = try FleetFixture(version)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    let service = try fixture.namespace.spawnService("/usr/bin/python3", ["-c", Self.listener, "\(Self.port)"])
    #expect(eventually { service.output.contains("ready") })
    let message = DefinitionMessage(id: "db", version: 1, definition: Self.definition)
    _ = try connection.publish(
      "\(FleetSubject.target("db"))", FleetWire.encode(.definition(message)), expecting: nil, within: .seconds(5))
    let replica = fixture.replica
    let agents = try (1...3).map { try fixture.startAgent("node\($0)", settings: "policy: { allow: [10.9.0.0/16] }") }
    defer { withExtendedLifetime(agents) {} }
    #expect(
      eventually { (try? replica.get("/fleet/targets/db").contains("\"up\":3")) == true },
      "\(replica.child.errors)")
    service.kill()
    _ = try service.wait()
    // One agent checks, as it would at its time of the day.
    _ = try connection.ask(
      "rx2.ask.node1", FleetRequests.check(["db"]), replyPrefix: FleetReplySubject.answers, within: .seconds(5))
    #expect(
      eventually { (try? replica.get("/fleet/targets/db").contains("\"down\":3")) == true },
      "\((try? replica.get("/fleet/targets/db")) ?? "")")
    #expect(eventually { (try? replica.get("/fleet/targets/db").contains("\"verdict\":\"down\"")) == true })
  }
}
