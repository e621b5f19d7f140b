import Glibc
import JetStream
import NATSClient
import ReachabilityFleet
import TestSupport

/// A whole fleet: servers, agents and replicas, each in a namespace of its own with a cable to one bridge.
final class FleetNetwork {
  /// What has a cable.
  enum Node: Hashable {
    case server(Int), agent(Int), replica(Int)

    /// The last byte of its address, and the name of its cable.
    var number: Int {
      switch self {
      case .server(let index): 10 + index
      case .agent(let index): 20 + index
      case .replica(let index): 30 + index
      }
    }
    var address: String { "10.77.0.\(number)" }
  }

  static let targets = 10
  private static let clientPort: UInt16 = 4222

  let version: NATSServer.Version
  let hub: Namespace
  let directory: TemporaryDirectory
  private(set) var servers: [NATSServer] = []
  private(set) var agents: [Member] = []
  private(set) var replicas: [Member] = []
  private(set) var subscribers: [HoppingSubscriber] = []
  private(set) var connection: NATSConnection
  let record = StreamRecord()
  private var consumer: JetStreamOrderedConsumer
  private var namespaces: [Node: Namespace] = [:]
  /// Whether the servers have users with passwords.
  private let hasUsers: Bool
  /// The agent that attacks; nil for none.
  private(set) var hostile: HostileAgent?
  /// Further variables of agents and replicas.
  private let environment: [String: String]
  /// Further lines of their configurations.
  private let settings: String
  private let replicaSettings: String

  /// Starts everything, and waits until every agent has published the state of every target.
  ///
  /// - Parameters:
  ///   - version: of the servers.
  ///   - servers: one or three.
  ///   - agents: how many.
  ///   - replicas: how many, with twice as many subscribers.
  ///   - configuration: further lines of the servers.
  ///   - disk: where the store of a single server is; nil for its directory.
  ///   - environment: further variables of agents and replicas.
  ///   - isAttacked: whether the servers have the printed permissions, and an agent with those of `evil` attacks.
  ///   - settings: further lines of their configurations.
  ///   - replicaSettings: further lines of those of replicas.
  ///   - otherProgram: another `reachd-fleet` for the first agent and the first replica; nil for the one under test.
  /// - Throws: a ``TestError`` when something does not begin.
  init(
    _ version: NATSServer.Version, servers: Int = 3, agents: Int = 3, replicas: Int = 2, configuration: String = "",
    disk: SmallDisk? = nil, environment: [String: String] = [:], isAttacked: Bool = false, settings: String = "",
    replicaSettings: String = "",
    otherProgram: String? = nil
  ) throws {
    var configuration = configuration
    if isAttacked {
      let (agentIDs, replicaIDs) = ((0..<agents).map { "node\($0)" }, (0..<replicas).map { "replica\($0)" })
      configuration += try EngineAccounts.configuration(agents: agentIDs + ["evil"], replicas: replicaIDs)
    }
    hasUsers = isAttacked
    self.version = version
    (self.settings, self.replicaSettings) = (settings, replicaSettings)
    self.environment = environment
    let hub = try Namespace()
    let directory = try TemporaryDirectory()
    (self.hub, self.directory) = (hub, directory)
    try hub.ip(batch: ["link add br0 type bridge", "addr add 10.77.0.1/24 dev br0", "link set br0 up"])
    let nodes = (0..<servers).map(Node.server) + (0..<agents).map(Node.agent) + (0..<replicas).map(Node.replica)
    for node in nodes { namespaces[node] = try Self.attach(node, to: hub) }
    let routes = (0..<servers).map { "nats-route://\(Node.server($0).address):6222" }.joined(separator: ", ")
    for index in 0..<servers {
      let cluster = servers > 1 ? "cluster { name: test, listen: \"0.0.0.0:6222\", routes: [\(routes)] }\n" : ""
      self.servers.append(
        try NATSServer(
          version, cluster + configuration, name: "server\(index)", port: Self.clientPort,
          namespace: namespaces[.server(index)], disk: disk, waits: false))
    }
    for server in self.servers { try server.waitUntilReady() }
    let urls = (0..<servers).map {
      "nats://\(isAttacked ? "test:secret@" : "")\(Node.server($0).address):\(Self.clientPort)"
    }
    let connection = try Self.connect(to: urls, from: hub)
    self.connection = connection
    try Self.makeStream(connection, copies: servers)
    try FleetFixture.define(Self.targets, connection)
    let record = record
    consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
    for index in 0..<agents { self.agents.append(try start(.agent(index), index == 0 ? otherProgram : nil)) }
    for index in 0..<replicas { self.replicas.append(try start(.replica(index), index == 0 ? otherProgram : nil)) }
    for index in 0..<agents {
      guard eventually({ Set(record.changes("node\(index)").map(\.target)).count == Self.targets }) else {
        throw TestError("no changes of node\(index): \(self.agents[index].child.errors)")
      }
    }
    for index in 0..<replicas * 2 {
      subscribers.append(HoppingSubscriber(self.replicas, seed: UInt64(index)))
    }
    guard eventually({ subscribers.allSatisfy { $0.snapshots > 0 } }) else { throw TestError("no snapshot") }
    if isAttacked {
      hostile = HostileAgent(
        from: hub, port: Self.clientPort, addresses: (0..<servers).map { [10, 77, 0, UInt8(10 + $0)] })
    }
  }

  deinit {
    hostile?.stop()
    subscribers.forEach { $0.stop() }
  }

  private static func connect(to urls: [String], from hub: Namespace) throws -> NATSConnection {
    try hub.run { () throws(NATSError) in
      try NATSConnection(NATSConfiguration(servers: urls, name: "test", inboxPrefix: "_INBOX.replica.test")) { _ in }
    }
  }

  /// Reads the stream on over another connection.
  ///
  /// The library may notice on a thread of all its connections that a server is lost. That thread is in another namespace, and
  /// cannot connect to the other servers.
  func reconnect() throws {
    consumer.cancel()
    connection.close()
    connection = try Self.connect(to: connection.configuration.servers, from: hub)
    consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: record.next) { [record] in
      record.add($0)
    }
  }

  private static func attach(_ node: Node, to hub: Namespace) throws -> Namespace {
    let namespace = try Namespace()
    try hub.ip(batch: [
      "link add c\(node.number) type veth peer name eth0 netns \(namespace.path)",
      "link set c\(node.number) master br0 up",
    ])
    try namespace.ip(batch: [
      "addr add \(node.address)/24 dev eth0", "link set eth0 up",
      "link add d0 type veth peer name d1", "link set d1 up", "addr add 10.9.0.2/16 dev d0", "link set d0 up",
    ])
    return namespace
  }

  /// Creates the stream; a cluster elects its leaders first.
  static func makeStream(_ connection: NATSConnection, copies: Int, bytes: Int64 = 100_000_000) throws {
    let wanted = JetStreamConfiguration(
      name: FleetSubject.stream, subjects: FleetSubject.stored, replicas: copies, maximumAge: .seconds(86_400),
      maximumBytes: bytes)
    guard eventually(within: .seconds(40), { (try? connection.createStream(wanted, within: .seconds(5))) != nil })
    else { throw TestError("no stream") }
  }

  private func start(_ node: Node, _ program: String? = nil) throws -> Member {
    guard let namespace = namespaces[node] else { throw TestError("no namespace of \(node)") }
    let (id, role) =
      switch node {
      case .agent(let index): ("node\(index)", "agent")
      case .replica(let index): ("replica\(index)", "replica")
      case .server: throw TestError("a server is no member")
      }
    let user = hasUsers ? "\(id):secret@" : ""
    let urls = servers.indices.map { "\"nats://\(user)\(Node.server($0).address):\(Self.clientPort)\"" }
    let file = try directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      \(role == "agent" ? "data: \(directory.path)/\(id)\nstore: { runtime: \(directory.path) }" : "")
      fleet: { id: \(id), zone: z\(node.number), servers: [\(urls.joined(separator: ", "))] }
      \(settings)
      \(role == "replica" ? replicaSettings : "")
      """, as: "\(id).yaml")
    return try Member(
      namespace, role, file, environment: environment, program: program)
  }

  // MARK: - Faults

  /// Cuts a cable, or connects it again.
  func connect(_ node: Node, _ isConnected: Bool) throws {
    try hub.ip("link set c\(node.number) \(isConnected ? "up" : "down")")
  }

  /// Loses what the servers send to a node, or no longer; what the node sends arrives.
  func loseReplies(to node: Node, _ areLost: Bool) throws {
    for index in servers.indices { try losePackets(from: .server(index), to: node, areLost) }
  }

  /// Separates a server from the others, or no longer; agents and replicas reach all of them.
  func separate(_ server: Int, _ isSeparated: Bool) throws {
    for other in servers.indices where other != server {
      try losePackets(from: .server(server), to: .server(other), isSeparated)
      try losePackets(from: .server(other), to: .server(server), isSeparated)
    }
  }

  /// The sender has a wrong hardware address of the receiver.
  private func losePackets(from sender: Node, to receiver: Node, _ areLost: Bool) throws {
    let address = "\(receiver.address) dev eth0"
    try namespaces[sender]?.ip(
      areLost ? "neigh replace \(address) lladdr 02:00:00:00:00:01 nud permanent" : "neigh del \(address)")
  }

  /// Starts a program on the machine of a member.
  func spawn(_ node: Node, _ program: String, _ arguments: [String]) throws -> Child {
    guard let namespace = namespaces[node] else { throw TestError("no namespace of \(node)") }
    return try namespace.spawnService(program, arguments)
  }

  /// Kills an agent and starts it again, after its data were deleted if so.
  func restartAgent(_ index: Int, deletingData: Bool = false) throws {
    agents[index].child.kill()
    _ = try agents[index].child.wait()
    if deletingData { _ = try Child("/bin/rm", ["-rf", "\(directory.path)/node\(index)"]).wait() }
    agents[index] = try start(.agent(index))
  }

  /// Kills a replica, which loses its state, and starts it again.
  func restartReplica(_ index: Int) throws {
    replicas[index].child.kill()
    _ = try replicas[index].child.wait()
    replicas[index] = try start(.replica(index))
  }

  /// Changes all targets of every agent twice as often.
  func flap(_ times: Int) throws {
    for _ in 0..<times {
      for state in ["down", "up"] {
        for index in agents.indices { try namespaces[.agent(index)]?.ip("link set d0 \(state)") }
        pause(.milliseconds(60), because: "a shorter outage is no change")
      }
    }
  }
}
