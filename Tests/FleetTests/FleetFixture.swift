import Glibc
import JetStream
import Locks
import ReachabilityFleet
import ReachabilityModel
import StatusAPI
import TestSupport

/// A namespace with a cable, an engine and agents in it, and a reader of the stream.
final class FleetFixture: Sendable {
  let namespace: Namespace
  let directory: TemporaryDirectory
  let server: NATSServer

  /// Makes a namespace with an interface `d0` and a server.
  init(_ version: NATSServer.Version, _ configuration: String = "") throws {
    namespace = try Namespace()
    directory = try TemporaryDirectory()
    try namespace.ip(batch: [
      "link add d0 type veth peer name d1", "link set d1 up", "addr add 10.9.0.2/24 dev d0", "link set d0 up",
    ])
    server = try NATSServer(version, configuration, namespace: namespace)
  }

  /// Starts an agent with a store of its own.
  func startAgent(
    _ id: String = "node1", arguments: [String] = [], settings: String = "", data: Bool = true
  ) throws -> Agent {
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
    return try Agent(namespace, file)
  }

  /// Connects as a replica would, inside the namespace.
  func connect(_ url: String? = nil) throws -> NATSConnection {
    let address = url ?? server.url
    let connection = try namespace.run { () throws(JetStreamError) in
      try NATSConnection(
        NATSConfiguration(servers: [address], name: "test", inboxPrefix: "_INBOX.replica.test")
      ) { _ in }
    }
    guard eventually({ connection.isConnected }) else { throw TestError("not connected") }
    return connection
  }

  /// Creates the stream.
  static func makeStream(_ connection: NATSConnection) throws -> StreamStatus {
    try connection.createStream(
      StreamConfiguration(
        name: FleetSubject.stream, subjects: FleetSubject.stored, replicas: 1, maximumAge: .seconds(86_400),
        maximumBytes: 100_000_000), within: .seconds(5))
  }

  /// Publishes the first version of targets that need only a route to addresses of the cable.
  static func define(_ count: Int, _ connection: NATSConnection, version: UInt64 = 1) throws {
    for number in 1...count {
      let id = "t\(number)"
      var spec = TargetSpec()
      spec.id = id
      spec.target = "route://10.9.0.\(number + 9)"
      let message = DefinitionMessage(id: id, version: version, definition: FleetTarget(spec: spec))
      _ = try connection.publish(
        "\(FleetSubject.target(id))", FleetWire.encode(.definition(message)), expecting: nil, within: .seconds(5))
    }
  }

  /// Cuts the cable and connects it again; each target has two changes.
  func flap(_ times: Int = 1) throws {
    for _ in 0..<times {
      try namespace.ip("link set d0 down")
      usleep(60_000)
      try namespace.ip("link set d0 up")
      usleep(60_000)
    }
  }
}

/// A running `reachd-fleet agent`.
final class Agent: Sendable {
  let child: Child
  let address: String
  private let namespace: Namespace

  init(_ namespace: Namespace, _ file: String) throws {
    self.namespace = namespace
    let program = Program.path + "-fleet"
    let child = try namespace.spawn(program, ["agent", "--config", file], environment: Program.environment())
    self.child = child
    let isUp = eventually { child.poll() != nil || Self.address(child.errors) != nil }
    guard isUp, let address = Self.address(child.errors) else { throw TestError("no agent: \(child.errors)") }
    self.address = address
  }

  private static func address(_ log: String) -> String? {
    log.split(separator: "\n").first { $0.contains(" listening ") }?.split(separator: " ")
      .first { $0.hasPrefix("address=") }.map { String($0.dropFirst("address=".count)) }
  }

  /// The body of a response of the agent.
  func get(_ path: String) throws -> String {
    try namespace.run("/usr/bin/curl", ["-s", "--max-time", "10", "http://\(address)\(path)"])
  }

  /// The number of the agent's last event.
  func lastNumber() throws -> UInt64 {
    let page = try get("/targets?limit=1000")
    // The count of changes is what the chain must end with; the snapshot of the stream has its number.
    let stream = try namespace.run(
      "/bin/sh", ["-c", "curl -sN --max-time 1 http://\(address)/events | head -c 200 || true"])
    let line = stream.split(separator: "\n").first { $0.hasPrefix("id:") }
    guard let number = line?.split(separator: "-").last.flatMap({ UInt64($0) }) else {
      throw TestError("no id in \(stream), \(page)")
    }
    return number
  }
}

/// What a reader of the stream has received.
final class StreamRecord: Sendable {
  private let received = Locked<[StoredMessage]>([])

  func add(_ delivery: StreamDelivery) {
    guard case .message(let message, _) = delivery else { return }
    received.withLock {
      $0.append(
        StoredMessage(
          subject: message.subject, sequence: message.sequence, time: message.time,
          payload: message.isCopy ? [] : message.payload))
    }
  }

  /// The messages that are understood, in the order of the stream.
  var messages: [FleetMessage] {
    received.withLock { $0 }.compactMap { FleetWire.decode($0.payload, subject: $0.subject) }
  }

  func agentMessages(_ id: String) -> [AgentMessage] {
    messages.compactMap { message in
      if case .agent(let message) = message, message.agent == id { message } else { nil }
    }
  }

  func nodes(_ id: String) -> [NodeMessage.Content] {
    messages.compactMap { message in
      if case .node(let message) = message, message.id == id { message.content } else { nil }
    }
  }

  func changes(_ id: String) -> [CellChange] {
    agentMessages(id).flatMap { message -> [CellChange] in
      if case .changes(let batch) = message.content { batch.changes } else { [] }
    }
  }

  /// The number up to which an agent's events are in the stream.
  func published(_ id: String) -> UInt64 { agentMessages(id).map(\.to).max() ?? 0 }

  /// What is wrong with the changes: a number twice, or a change that does not begin where the one before ended.
  func faults(_ id: String) -> [String] {
    var faults: [String] = []
    var numbers: Set<UInt64> = []
    var cells: [String: TargetState] = [:]
    for change in changes(id) {
      if !numbers.insert(change.number).inserted { faults.append("\(change.number) twice") }
      if let before = cells[change.target], before != change.old {
        faults.append("\(change.number): \(change.target) was \(before), not \(change.old)")
      }
      cells[change.target] = change.cell?.state
    }
    return faults
  }
}
