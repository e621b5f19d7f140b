import Glibc
import TestSupport
import Testing

/// Faults of a fleet with three replicated servers, for `make test-fleet`: three agents, two replicas, and four
/// subscribers that move between the replicas all the time.
@Suite("Faults of the engine", .partOfFleetVerb)
struct EngineFaultTests {
  @Test("Kills of the leader lose and repeat nothing", arguments: NATSServer.Version.allCases)
  func killsOfLeaders(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    for _ in 0..<3 {
      let baselines = fleet.baselines
      let leader = fleet.servers[try fleet.leader()]
      leader.kill()
      try fleet.flap(5)
      try leader.start(waits: false)
      try fleet.expectNoLoss(since: baselines)
    }
  }

  @Test("Kills of all servers lose and repeat nothing", arguments: NATSServer.Version.allCases)
  func killsOfAllServers(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    for _ in 0..<4 {
      let baselines = fleet.baselines
      for server in fleet.servers { server.kill() }
      try fleet.flap(3)
      for server in fleet.servers { try server.start(waits: false) }
      try fleet.expectNoLoss(since: baselines)
    }
  }

  @Test("A stopped leader loses and repeats nothing", arguments: NATSServer.Version.allCases)
  func stoppedLeader(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    let baselines = fleet.baselines
    let leader = fleet.servers[try fleet.leader()]
    leader.signal(SIGSTOP)
    try fleet.flap(5)
    pause(.seconds(10), because: "the others elect another leader")
    leader.signal(SIGCONT)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test("A leader that is cut off from the others loses and repeats nothing", arguments: NATSServer.Version.allCases)
  func partitionedLeader(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    let baselines = fleet.baselines
    let leader = try fleet.leader()
    try fleet.connect(.server(leader), false)
    try fleet.flap(5)
    pause(.seconds(15), because: "the others elect another leader, and clients leave the old one")
    try fleet.connect(.server(leader), true)
    try fleet.flap(2)
    try fleet.expectNoLoss(since: baselines)
  }

  /// nats-server 2.9 does not pass: a leader without a majority applies its uncommitted messages to its own store after
  /// the others have replaced it, and its copy of the stream differs until the copy is deleted.
  @Test("A leader that only agents and replicas reach loses and repeats nothing")
  func separatedLeader() throws {
    let fleet = try FleetNetwork(.latest)
    let baselines = fleet.baselines
    let leader = try fleet.leader()
    try fleet.separate(leader, true)
    try fleet.flap(5)
    pause(.seconds(15), because: "the others elect another leader, and clients leave the old one")
    try fleet.separate(leader, false)
    try fleet.flap(2)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test("A server whose store is deleted copies it from the others", arguments: NATSServer.Version.allCases)
  func wipedServer(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    let baselines = fleet.baselines
    let leader = fleet.servers[try fleet.leader()]
    leader.kill()
    leader.wipe()
    try fleet.flap(3)
    try leader.start(waits: false)
    try fleet.expectNoLoss(since: baselines)
  }

  @Test("Two wiped servers cost a gap at most, and no state", arguments: NATSServer.Version.allCases)
  func twoWipedServers(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    let kept = try fleet.leader()
    let others = fleet.servers.indices.filter { $0 != kept }.map { fleet.servers[$0] }
    for server in others { server.kill() }
    for server in others { server.wipe() }
    try fleet.flap(3)
    for server in others { try server.start(waits: false) }
    try fleet.flap(2)
    try fleet.expectConvergence()
    fleet.expectGaps(0...2)
  }

  @Test("Three wiped servers cost a gap, and no state", arguments: NATSServer.Version.allCases)
  func threeWipedServers(_ version: NATSServer.Version) throws {
    let fleet = try FleetNetwork(version)
    for server in fleet.servers { server.kill() }
    for server in fleet.servers { server.wipe() }
    try fleet.flap(3)
    for server in fleet.servers { try server.start(waits: false) }
    try fleet.flap(2)
    try fleet.expectConvergence()
    fleet.expectGaps(1...2)
  }
}

/// The environment of `make test-fleet`.
enum FleetFaults {
  static let areTested =
    !NATSServer.isSkipped && Namespace.isSupported && Program.environmentVariable("REACHD_FLEET_FAULTS") == "1"

  /// The path of a `reachd-fleet` of another version.
  static let otherProgram = Program.environmentVariable("REACHD_FLEET_OTHER")
}

extension Trait where Self == ConditionTrait {
  /// A test that takes too long for `make test`.
  ///
  /// `.ci/run` accepts a skipped test only if its reason names another verb.
  static var partOfFleetVerb: Self { .enabled(if: FleetFaults.areTested, "part of make test-fleet") }
}
