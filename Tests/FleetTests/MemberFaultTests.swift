import Glibc
import JetStream
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// Faults of agents, replicas and their connections, with one server.
@Suite("Faults of members", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct MemberFaultTests {
  @Test("Subscribers that move between replicas lose nothing by a kill of the server, and have one gap after a wipe")
  func shortForm() throws {
    let fleet = try FleetNetwork(.latest, servers: 1, agents: 1)
    let baselines = fleet.baselines
    fleet.servers[0].kill()
    try fleet.flap(3)
    try fleet.servers[0].start()
    try fleet.expectNoLoss(since: baselines)
    fleet.servers[0].kill()
    fleet.servers[0].wipe()
    try fleet.flap(1)
    try fleet.servers[0].start()
    try fleet.expectConvergence()
    fleet.expectGaps(1...2)
  }

  @Test("A cut cable of an agent loses nothing", .partOfFleetVerb)
  func partitionedAgent() throws {
    let fleet = try FleetNetwork(.latest, servers: 1)
    let baselines = fleet.baselines
    try fleet.connect(.agent(0), false)
    try fleet.flap(5)
    pause(.seconds(15), because: "the connections are lost on both sides after this time")
    try fleet.connect(.agent(0), true)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test("Subscribers wait for a replica that is cut off or leave it", .partOfFleetVerb)
  func partitionedReplica() throws {
    let fleet = try FleetNetwork(.latest, servers: 1)
    let baselines = fleet.baselines
    try fleet.connect(.replica(0), false)
    try fleet.flap(5)
    pause(.seconds(15), because: "the connections are lost on both sides after this time")
    try fleet.flap(2)
    try fleet.connect(.replica(0), true)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test("What is stored without an acknowledgement is not published again", .partOfFleetVerb)
  func lostAcknowledgements() throws {
    let fleet = try FleetNetwork(.latest, servers: 1)
    let baselines = fleet.baselines
    try fleet.loseReplies(to: .agent(0), true)
    try fleet.flap(2)
    #expect(eventually { fleet.record.changes("node0").count > baselines[0] }, "the publication arrives")
    pause(.seconds(15), because: "the agent notices that the connection is lost")
    try fleet.loseReplies(to: .agent(0), false)
    try fleet.flap(1)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test("The wall clocks of agents and replicas may be wrong by a day", .partOfFleetVerb)
  func clocks() throws {
    let control = try TemporaryDirectory()
    let library = try PreloadedLibrary.build("clock", in: control)
    let fleet = try FleetNetwork(
      .latest, servers: 1, environment: ["LD_PRELOAD": library, "CLOCK_FILE": "\(control.path)/offset"])
    let baselines = fleet.baselines
    for offset in ["86400", "-86400", "0"] {
      _ = try control.write(offset, as: "offset")
      try fleet.flap(2)
      pause(.seconds(8), because: "the silence after which an agent counts as lost is shorter")
      try fleet.expectNoLoss(since: baselines)
    }
    #expect(fleet.subscribers.allSatisfy { $0.lost.isEmpty })
  }

  @Test(
    "An engine whose disk is full stores again after a restart with space", .partOfFleetVerb,
    arguments: NATSServer.Version.allCases)
  func fullDisk(_ version: NATSServer.Version) throws {
    let disk = try SmallDisk(megabytes: 8)
    let fleet = try FleetNetwork(version, servers: 1, disk: disk)
    try disk.fill()
    try fleet.flap(20)
    #expect(
      eventually {
        let metrics = try? fleet.agents[0].get("/metrics")
        return metrics?.contains("reachd_fleet_outbox_events 0\n") == false
      }, "nothing waits")
    fleet.servers[0].kill()
    disk.free()
    try fleet.servers[0].start()
    try fleet.flap(1)
    try fleet.expectPublished()
    try fleet.expectConvergence()
    fleet.expectGaps(0...1)
  }

  @Test("Stopped members lose nothing, and no other is reported", .partOfFleetVerb)
  func stopped() throws {
    let fleet = try FleetNetwork(.latest, servers: 1)
    let baselines = fleet.baselines
    fleet.replicas[0].child.kill(SIGSTOP)
    try fleet.flap(3)
    pause(.seconds(10), because: "the silence after which a member counts as lost is shorter")
    fleet.replicas[0].child.kill(SIGCONT)
    try fleet.flap(1)
    try fleet.expectNoLoss(since: baselines)
    #expect(fleet.subscribers.allSatisfy { Set($0.lost).isSubset(of: ["replica0"]) })
    fleet.agents[0].child.kill(SIGSTOP)
    pause(.seconds(10), because: "the silence after which a member counts as lost is shorter")
    fleet.agents[0].child.kill(SIGCONT)
    try fleet.flap(2)
    try fleet.expectNoLoss(since: baselines)
    #expect(fleet.subscribers.allSatisfy { Set($0.lost).isSubset(of: ["replica0", "node0"]) })
    #expect(fleet.subscribers[0].lost.contains("node0"))
  }

  @Test(
    "An older copy of the stream costs a gap, and no state", .partOfFleetVerb,
    arguments: NATSServer.Version.allCases)
  func olderCopy(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version, servers: 1)
    let server = fleet.servers[0]
    server.kill()
    let copy = try TemporaryDirectory()
    try #require(try Child("/bin/cp", ["-a", server.directory.path + "/store", copy.path]).wait() == .exited(0))
    try server.start()
    try fleet.flap(3)
    try fleet.expectPublished()
    server.kill()
    server.wipe()
    try #require(try Child("/bin/cp", ["-a", copy.path + "/store", server.directory.path]).wait() == .exited(0))
    try fleet.flap(2)
    try server.start()
    try fleet.flap(2)
    try fleet.expectConvergence()
    fleet.expectGaps(0...2)
  }

  @Test("An agent whose data are deleted begins again, and nothing else is lost", .partOfFleetVerb)
  func deletedStore() throws {
    let fleet = try FleetNetwork(.latest, servers: 1)
    try fleet.flap(2)
    try fleet.restartAgent(0, deletingData: true)
    try fleet.flap(2)
    try fleet.expectConvergence()
    fleet.expectGaps(0...0)
  }

  @Test("A full stream drops its oldest messages, and replicas stay right", .partOfFleetVerb)
  func fullStream() throws {
    let fleet = try FleetNetwork(.latest, servers: 1)
    _ = try fleet.connection.request(
      "$JS.API.STREAM.UPDATE.RX2",
      Array(
        """
        {"name":"RX2","subjects":\(FleetSubject.stored),"retention":"limits",
         "storage":"file","discard":"old","num_replicas":1,"max_bytes":100000,"max_age":86400000000000,
         "allow_direct":true,"deny_delete":true,"deny_purge":true}
        """.utf8), within: .seconds(5))
    let baselines = fleet.baselines
    try fleet.flap(15)
    let status = try fleet.connection.stream("RX2", within: .seconds(5))
    #expect(status.firstSequence > 1 && status.bytes <= 100_000, "\(status)")
    try fleet.expectNoLoss(since: baselines)
    // A replica that begins now has everything: definitions, nodes and verdicts are published again, and bases requested.
    let other = try fleet.replicas[0].get("/fleet/targets")
    try fleet.restartReplica(1)
    let isEqual = eventually(within: .seconds(40)) { (try? fleet.replicas[1].get("/fleet/targets")) == other }
    let found = try fleet.replicas[1].get("/fleet/targets")
    #expect(isEqual, "\(found) instead of \(other)")
  }

  @Test("A replica that the server drops as a slow consumer loses nothing", .partOfFleetVerb)
  func slowConsumer() throws {
    let fleet = try FleetNetwork(
      .latest, servers: 1, configuration: "max_pending: 1MB\nwrite_deadline: \"1s\"")
    let baselines = fleet.baselines
    fleet.replicas[0].child.kill(SIGSTOP)
    // More than the buffers of the sockets have.
    let payload = [UInt8](repeating: 0x20, count: 100_000)
    for _ in 0..<300 { try fleet.connection.publish("rx2.hb.flood", payload) }
    try fleet.flap(3)
    #expect(eventually { fleet.servers[0].log.contains("Slow Consumer") })
    fleet.replicas[0].child.kill(SIGCONT)
    try fleet.flap(2)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test(
    "An agent whose user is revoked continues when it is permitted again", .partOfFleetVerb,
    arguments: NATSServer.Version.allCases)
  func revoked(_ version: NATSServer.Version) throws {
    func users(_ password: String) -> String {
      """
      accounts { FLEET { jetstream: enabled, users: [
        { user: replica, password: secret }, { user: node1, password: \(password) }
      ] } }
      """
    }
    let fixture = try FleetFixture(version, users("secret"), user: "replica:secret@")
    let connection = try fixture.connect("nats://replica:secret@127.0.0.1:\(fixture.server.port)")
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(5, connection)
    let record = StreamRecord()
    let consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let file = try fixture.directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      data: \(fixture.directory.path)/node1
      store: { runtime: \(fixture.directory.path) }
      fleet: { id: node1, servers: ["nats://node1:secret@127.0.0.1:\(fixture.server.port)"] }
      """, as: "node1.yaml")
    let agent = try Member(fixture.namespace, "agent", file)
    #expect(eventually { Set(record.changes("node1").map(\.target)).count == 5 }, "\(agent.child.errors)")
    try fixture.server.reload { $0.replacing(users("secret"), with: users("other")) }
    #expect(eventually { (try? agent.get("/metrics").contains("reachd_fleet_connected 0")) == true })
    try fixture.flap(3)
    try fixture.server.reload { $0.replacing(users("other"), with: users("secret")) }
    #expect(eventually { (try? agent.get("/metrics").contains("reachd_fleet_connected 1")) == true })
    try fixture.flap(1)
    let last = try agent.lastChange()
    #expect(eventually(within: .seconds(60)) { record.published("node1") >= last })
    #expect(record.faults("node1") == [])
  }
}
