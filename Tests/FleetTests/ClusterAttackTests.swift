import FleetAPI
import JetStream
import Locks
import NATSClient
import ReachabilityFleet
import TestSupport
import Testing

/// The table of attacks against three servers, for `make test-fleet`.
@Suite("Attacks on a cluster", .partOfFleetVerb)
struct ClusterAttackTests {
  @Test(
    "No reply subject and no header changes what others say, and no server ends", arguments: NATSServer.Version.allCases
  )
  func table(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version, agents: 2, isAttacked: true)
    fleet.hostile?.stop()
    let before = fleet.record.messages.count
    let own = fleet.record.agentMessages("evil").count
    let change = AgentMessage(
      agent: "evil", epoch: "table", after: 0, .base(FleetBasePart(prev: 0, number: 0, part: 1, of: 1, cells: [])))
    let payloads = [GatewayWire.encode(.publish(change)), Array("junk".utf8), []]
    for server in fleet.servers.indices {
      let attacker = try RawClient(
        port: 4222, user: "evil", in: fleet.hub, address: [10, 77, 0, UInt8(10 + server)])
      AttackTable.send(payloads, over: attacker)
      #expect(!attacker.isClosed)
      #expect(!fleet.servers[server].log.contains("panic"))
    }
    let baselines = fleet.baselines
    try fleet.flap(2)
    try fleet.expectNoLoss(since: baselines)
    #expect(fleet.record.unreadable.withLock { $0.isEmpty })
    // The first message of its chain, if the stream had none of it.
    #expect(fleet.record.agentMessages("evil").count <= max(own, 1))
    for message in fleet.record.messages.dropFirst(before) {
      switch message {
      case .agent(let message): #expect(["node0", "node1", "evil"].contains(message.agent))
      case .node(let node): #expect(node.id != "node0" && node.id != "node1", "\(node)")
      case .verdict(let verdict): #expect(verdict.by.hasPrefix("replica"))
      case .definition(let definition): #expect(Bool(false), "\(definition)")
      }
    }
  }
}
