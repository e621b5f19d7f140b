import Glibc
import JetStream
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// Faults of three replicated servers, for `make test-fleet`.
@Suite(
  "Faults of the engine",
  .enabled(if: !NATSServer.isSkipped && Namespace.isSupported),
  .enabled(if: Program.environmentVariable("REACHD_FLEET_FAULTS") == "1"))
struct EngineFaultTests {
  /// Three servers, an agent and a reader in one namespace.
  private struct Fleet {
    let namespace: Namespace
    let directory: TemporaryDirectory
    let cluster: NATSCluster
    let connection: NATSConnection
    let record = StreamRecord()
    let consumer: OrderedConsumer
    let agent: Agent

    init(_ version: NATSServer.Version) throws {
      let namespace = try Namespace()
      try namespace.ip(batch: [
        "link add d0 type veth peer name d1", "link set d1 up", "addr add 10.9.0.2/24 dev d0", "link set d0 up",
      ])
      let cluster = try NATSCluster(version, namespace: namespace)
      let urls = cluster.urls
      let connection = try namespace.run { () throws(JetStreamError) in
        try NATSConnection(NATSConfiguration(servers: urls, name: "test", inboxPrefix: "_INBOX.replica.test")) { _ in }
      }
      guard eventually({ connection.isConnected }) else { throw TestError("not connected") }
      try Self.makeStream(connection)
      try FleetFixture.define(20, connection)
      let record = record
      consumer = OrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
      directory = try TemporaryDirectory()
      let file = try directory.write(
        """
        listen: 127.0.0.1:0
        drainDelay: 0s
        data: \(directory.path)/node1
        store: { runtime: \(directory.path) }
        fleet: { id: node1, servers: [\(urls.map { "\"\($0)\"" }.joined(separator: ", "))] }
        """, as: "node1.yaml")
      agent = try Agent(namespace, file)
      (self.namespace, self.cluster, self.connection) = (namespace, cluster, connection)
      guard eventually({ Set(record.changes("node1").map(\.target)).count == 20 }) else {
        throw TestError("no changes: \(agent.child.errors)")
      }
    }

    static func makeStream(_ connection: NATSConnection) throws {
      let wanted = StreamConfiguration(
        name: FleetSubject.stream, subjects: FleetSubject.stored, replicas: 3, maximumAge: .seconds(86_400),
        maximumBytes: 100_000_000)
      guard eventually(within: .seconds(40), { (try? connection.createStream(wanted, within: .seconds(5))) != nil })
      else {
        throw TestError("no stream")
      }
    }

    func flap(_ times: Int) throws {
      for _ in 0..<times {
        try namespace.ip("link set d0 down")
        usleep(60_000)
        try namespace.ip("link set d0 up")
        usleep(60_000)
      }
    }

    /// Waits until everything is published, and expects no loss and no repetition.
    func expectComplete() throws {
      let last = try agent.lastNumber()
      #expect(
        eventually(within: .seconds(60)) { record.published("node1") >= last },
        "\(record.published("node1")) of \(last): \(agent.child.errors.suffix(2_000))")
      #expect(record.faults("node1") == [])
      #expect(
        record.agentMessages("node1").allSatisfy {
          if case .changes(let batch) = $0.content { !batch.again } else { true }
        })
    }
  }

  @Test("Kills of each server lose and repeat nothing", arguments: NATSServer.Version.allCases)
  func killsOfServers(_ version: NATSServer.Version) throws {
    let fleet = try Fleet(version)
    for server in fleet.cluster.servers {
      server.kill()
      try fleet.flap(5)
      try server.start(waits: false)
      try fleet.expectComplete()
    }
  }

  @Test("Kills of all servers lose and repeat nothing", arguments: NATSServer.Version.allCases)
  func killsOfAllServers(_ version: NATSServer.Version) throws {
    let fleet = try Fleet(version)
    for _ in 0..<3 {
      for server in fleet.cluster.servers { server.kill() }
      try fleet.flap(3)
      for server in fleet.cluster.servers { try server.start(waits: false) }
      try fleet.expectComplete()
    }
  }

  @Test("Stopped servers lose and repeat nothing", arguments: NATSServer.Version.allCases)
  func stoppedServers(_ version: NATSServer.Version) throws {
    let fleet = try Fleet(version)
    for server in fleet.cluster.servers {
      server.signal(SIGSTOP)
      try fleet.flap(5)
      usleep(3_000_000)
      server.signal(SIGCONT)
      try fleet.expectComplete()
    }
  }

  @Test("A stopped agent continues", arguments: NATSServer.Version.allCases)
  func stoppedAgent(_ version: NATSServer.Version) throws {
    let fleet = try Fleet(version)
    fleet.agent.child.kill(SIGSTOP)
    try fleet.flap(3)
    usleep(10_000_000)
    fleet.agent.child.kill(SIGCONT)
    try fleet.flap(3)
    try fleet.expectComplete()
  }
}
