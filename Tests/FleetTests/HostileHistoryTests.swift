import Glibc
import Locks
import ReachabilityFleet
import TestSupport
import Testing

/// Random faults of a fleet with three servers, while one agent tries every attack.
@Suite("A hostile agent and faults", .partOfFleetVerb)
struct HostileHistoryTests {
  /// How long; `REACHD_FLEET_MINUTES` changes it.
  private static var duration: Duration {
    .seconds(60 * (Program.environmentVariable("REACHD_FLEET_MINUTES").flatMap { Int($0) } ?? 2))
  }

  @Test("Nothing is lost, repeated, reordered or forged", arguments: NATSServer.Version.allCases)
  func history(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version, isAttacked: true)
    var random = SeededGenerator(seed: 1)
    let end = ContinuousClock.now + Self.duration
    var rounds = 0
    while ContinuousClock.now < end || rounds == 0 {
      let baselines = fleet.baselines
      try fault(fleet, &random)
      try fleet.flap(2)
      try fleet.expectNoLoss(since: baselines)
      rounds += 1
    }
    let attacks = fleet.hostile?.attacks ?? 0
    fleet.hostile?.stop()
    #expect(attacks > 100 * rounds, "\(attacks) attacks in \(rounds) rounds")
    // What the gateway's rules allow: messages of its own chain, and its own hello and bye.
    #expect(fleet.record.unreadable.withLock(\.self) == [])
    for message in fleet.record.messages {
      if case .node(let node) = message, case .hello(let hello, _, _) = node.content {
        #expect(hello.role == (node.id.hasPrefix("replica") ? .replica : .agent), "\(node)")
        if node.id.hasPrefix("node") { #expect(hello.zone.hasPrefix("z"), "\(node)") }
      }
      if case .verdict(let verdict) = message { #expect(verdict.by.hasPrefix("replica")) }
    }
    for server in fleet.servers { #expect(!server.log.contains("panic")) }
  }

  private func fault(_ fleet: FleetNetwork, _ random: inout SeededGenerator) throws {
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      let leader = fleet.servers[try fleet.leader()]
      leader.kill()
      try fleet.flap(2)
      try leader.start(waits: false)
    case 1:
      for server in fleet.servers { server.kill() }
      try fleet.flap(2)
      for server in fleet.servers { try server.start(waits: false) }
    case 2:
      try fleet.connect(.agent(0), false)
      try fleet.flap(2)
      pause(.seconds(8), because: "the silence after which a member counts as lost is shorter")
      try fleet.connect(.agent(0), true)
    case 3:
      let leader = fleet.servers[try fleet.leader()]
      leader.signal(SIGSTOP)
      try fleet.flap(2)
      pause(.seconds(5), because: "the others elect another leader")
      leader.signal(SIGCONT)
    default:
      fleet.agents[1].child.kill(SIGSTOP)
      pause(.seconds(8), because: "the silence after which a member counts as lost is shorter")
      fleet.agents[1].child.kill(SIGCONT)
    }
  }
}
