import Glibc
import JetStream
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import FleetAPI
import TestSupport

/// A namespace with a cable, an engine, a replica and agents in it, and a reader of the stream.
final class FleetFixture: Sendable {
  let namespace: Namespace
  let directory: TemporaryDirectory
  let server: NATSServer
  let replica: Member

  /// Makes a namespace with an interface `d0`, a server and a replica.
  ///
  /// - Parameters:
  ///   - version: of the server.
  ///   - configuration: further lines of the server.
  ///   - user: the user and password of the replica, as `replica1:secret@`.
  /// - Throws: a ``TestError`` when something does not begin.
  init(_ version: NATSServer.Version, _ configuration: String = "", user: String = "") throws {
    namespace = try Namespace()
    directory = try TemporaryDirectory()
    // Its addresses would change after the tests' own changes, and be events after the last one that is published.
    try namespace.sysctl("net/ipv6/conf/default/disable_ipv6", 1)
    try namespace.ip(batch: [
      "link add d0 type veth peer name d1", "link set d1 up", "addr add 10.9.0.2/16 dev d0", "link set d0 up",
    ])
    server = try NATSServer(version, configuration, namespace: namespace)
    let file = try directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      fleet: { id: replica1, servers: ["nats://\(user)127.0.0.1:\(server.port)"] }
      """, as: "replica1.yaml")
    replica = try Member(namespace, "replica", file)
  }

  /// Starts an agent with a store of its own.
  func startAgent(
    _ id: String = "node1", arguments: [String] = [], settings: String = "", data: Bool = true
  ) throws -> Member {
    let file = try directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      \(data ? "data: \(directory.path)/\(id)\nstore:\n  runtime: \(directory.path)" : "")
      fleet:
        id: \(id)
        zone: a
        servers: ["\(server.url)"]
      \(settings)
      """, as: "\(id).yaml")
    return try Member(namespace, "agent", file)
  }

  /// Connects as a replica would, inside the namespace.
  func connect(_ url: String? = nil) throws -> NATSConnection {
    let address = url ?? server.url
    let connection = try namespace.run { () throws(NATSError) in
      try NATSConnection(
        NATSConfiguration(servers: [address], name: "test", inboxPrefix: "_INBOX.replica.test")
      ) { _ in }
    }
    guard eventually({ connection.isConnected }) else { throw TestError("not connected") }
    return connection
  }

  /// Waits until the replica has created the stream.
  static func makeStream(_ connection: NATSConnection) throws -> JetStreamStatus {
    var found: JetStreamStatus?
    eventually {
      found = try? connection.stream(FleetSubject.stream, within: .seconds(1))
      return found != nil
    }
    guard let found else { throw TestError("no stream") }
    return found
  }

  /// Publishes the first version of targets that need only a route to addresses of the cable.
  static func define(_ count: Int, _ connection: NATSConnection, version: UInt64 = 1) throws {
    for number in 1...count {
      let id = "t\(number)"
      var spec = TargetSpec()
      spec.id = id
      let address = number + 9
      spec.target = "route://10.9.\(address >> 8).\(address & 255)"
      let message = DefinitionMessage(id: id, version: version, definition: FleetTarget(spec: spec))
      _ = try connection.publish(
        "\(FleetSubject.target(id))", FleetWire.encode(.definition(message)), expecting: nil, within: .seconds(5))
    }
  }

  /// Cuts the cable and connects it again; each target has two changes.
  func flap(_ times: Int = 1) throws {
    for _ in 0..<times {
      try namespace.ip("link set d0 down")
      pause(.milliseconds(60), because: "a shorter outage is no change")
      try namespace.ip("link set d0 up")
      pause(.milliseconds(60), because: "a shorter outage is no change")
    }
  }
}
