import Dispatch
import FleetAPI
import Glibc
import JetStream
import Locks
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// One agent that sends as fast as it can.
@Suite("Floods of an agent", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct FloodTests {
  private static let changes = (1...255).map { number in
    FleetCellChange(
      number: UInt64(number), target: "t\(number)", old: .unknown,
      cell: FleetCellState(.down, since: Timestamp(microseconds: 1)), time: Timestamp(microseconds: 1))
  }

  /// What each of two connections sends: valid requests and invalid ones, and heartbeats.
  private static var flows: [[(subject: String, payload: [UInt8])]] {
    let message = AgentMessage(
      agent: "evil", epoch: "e", after: 0,
      .changes(AgentChangeBatch(prev: 0, from: 1, to: 255, changes: changes)))
    let requests = [
      ("rx2.in.evil", GatewayWire.encode(.publish(message))), ("rx2.in.evil", GatewayWire.encode(.last)),
      ("rx2.in.evil", GatewayWire.encode(.confirm(roster: nil))),
      ("rx2.in.evil", [UInt8](repeating: 0x5b, count: 100_000)),
    ]
    let heartbeats = [
      ("rx2.hb.evil", FleetWire.encode(HeartbeatMessage(agent: "evil", instance: 1, outbox: 0, hello: 1))),
      ("rx2.hb.evil", [UInt8](repeating: 0x5b, count: 1000)),
    ]
    return [requests, heartbeats]
  }

  @Test(
    "An agent that floods the replicas delays no event of another agent for long, and nothing is displaced",
    arguments: NATSServer.Version.allCases)
  func flood(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version)
    try fleet.define("t1")
    try fleet.expectUp("t1", votes: 2)
    let isOver = Locked(false)
    let group = DispatchGroup()
    for flow in Self.flows {
      DispatchQueue.global().async(group: group) {
        let client = try? RawClient(port: fleet.fixture.server.port, user: "evil", in: fleet.fixture.namespace)
        guard let attacker = client else { return }
        while !isOver.withLock(\.self), !attacker.isClosed {
          for (subject, payload) in flow {
            attacker.flood(subject, payload, reply: "_INBOX.agent.evil.x", count: 160)
          }
        }
      }
    }
    for round in 1...5 {
      try fleet.fixture.flap()
      for (index, agent) in fleet.agents.enumerated() {
        let last = try agent.lastChange()
        let id = "node\(index + 1)"
        #expect(eventually(within: .seconds(20)) { fleet.record.published(id) >= last }, "\(id) in round \(round)")
      }
    }
    try fleet.define("t2")
    try fleet.expectUp("t2", votes: 2)
    isOver.withLock { $0 = true }
    group.wait()
    let agents = try fleet.replica.get("/fleet/agents")
    #expect(!agents.contains("\"lost\""), "\(agents)")
    for id in ["node1", "node2"] { #expect(fleet.record.faults(id) == []) }
    let counts = try fleet.counts()
    #expect(counts["rx2.ev.evil"] ?? 0 <= 1 && counts["rx2.roster.target.t1"] == 1, "\(counts)")
    let metrics = try fleet.replica.get("/metrics")
    #expect(metrics.contains("reachd_fleet_requests_total{outcome=\"dropped\"}"))
  }

  @Test(
    "A replica that begins after messages were displaced has the same state and later ids",
    arguments: NATSServer.Version.allCases)
  func displaced(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version)
    for id in ["t1", "t2"] { try fleet.define(id) }
    for id in ["t1", "t2"] { try fleet.expectUp(id, votes: 2) }
    let before = try fleet.counts()
    // What a hostile agent stores in an hour, and the verdicts between it.
    var sequence: UInt64 = 0
    for number in 1...UInt64(FleetLimits.messagesPerSubject + 300) {
      let message = AgentMessage(
        agent: "evil", epoch: "e", after: sequence,
        .changes(AgentChangeBatch(prev: number - 1, from: number, to: number, changes: [])))
      sequence = try fleet.test.publish(
        "rx2.ev.evil", FleetWire.encode(.agent(message)), expecting: .sequence(sequence), within: .seconds(5))
      if number.isMultiple(of: 1000) { try fleet.fixture.flap() }
    }
    let after = try fleet.counts()
    #expect(after["rx2.ev.evil"] == FleetLimits.messagesPerSubject)
    // Nothing of others was displaced.
    for (subject, count) in before { #expect(after[subject] ?? 0 >= count, "\(subject)") }
    let file = try fleet.fixture.directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      fleet: { id: replica2, servers: ["nats://replica1:secret@127.0.0.1:\(fleet.fixture.server.port)"] }
      """, as: "replica2.yaml")
    let late = try Member(fleet.fixture.namespace, "replica", file)
    var states: [String] = []
    let isEqual = eventually(within: .seconds(30)) {
      states = [fleet.replica, late].compactMap { try? $0.get("/fleet/targets") }
      return states.count == 2 && states[0] == states[1] && states[0].contains("\"t2\"")
    }
    #expect(isEqual, "\(states)")
    #expect(eventually { late.child.errors.contains("the stream has dropped messages") })
    // The ids of later events are the same; one before the hole gets a gap.
    let subscribers = [fleet.replica, late].map { HoppingSubscriber([$0], seed: 1) }
    defer { subscribers.forEach { $0.stop() } }
    #expect(eventually { subscribers.allSatisfy { $0.snapshots > 0 } })
    try fleet.define("t3")
    try fleet.expectUp("t3", votes: 2)
    #expect(
      eventually {
        // One may have an event that came before the snapshot of the other.
        let ids = subscribers.map { $0.events.drop { $0.data["target"]?.text != "t3" }.compactMap(\.id) }
        return ids[0].count > 2 && ids[0] == ids[1]
      })
  }
}
