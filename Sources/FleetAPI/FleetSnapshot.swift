internal import NetworkReachability
internal import ReachabilityFleet

struct FleetSnapshot: Sendable {
  var fold: FleetFold
  /// Whether the fold has everything that the stream has.
  var isComplete: Bool
  var isConnected: Bool
  /// What is wrong with the engine, in words; nil if it works.
  var problem: String?
  /// Whether the fold is a state of the fleet, which may be an earlier one.
  var hasState: Bool
  /// The time since the stream delivered or answered.
  var age: Duration
  /// The messages that are stored and not folded, as far as it is known.
  var lag: UInt64
  /// The replica's publications that failed.
  var failures: [FleetEngineError.Reason: UInt64]
  private let heartbeats: FleetHeartbeatTable
  private let meshCache: FleetMeshChecksCache
  private let silence: FleetSilenceTracker
  /// The id of the last event, or of the moment before the first.
  var last: FleetEventID

  init(_ state: FleetService.State, _ heartbeats: FleetHeartbeatTable, _ meshCache: FleetMeshChecksCache) {
    let now = FleetService.now
    problem = state.health.problem(of: state.replica, at: now).map { "\($0)" }
    hasState = state.replica.hasState
    age = state.health.age(of: state.replica, at: now)
    lag = state.replica.contact.lag
    failures = state.health.failures
    fold = state.replica.fold
    isComplete = state.replica.isComplete
    isConnected = state.replica.isConnected
    self.heartbeats = heartbeats
    self.meshCache = meshCache
    silence = state.replica.silence
    last = state.lastEvent ?? FleetEventID(epoch: state.replica.fold.epoch, number: state.start, check: 0)
  }

  /// Which agents check which others.
  var meshChecks: FleetMeshChecks { meshCache.checks(fold) }

  /// What the agents say about each other; while the stream is not followed, it is the last state.
  var meshDecisions: [String: FleetQuorumRules.Decision] {
    let now = FleetService.now
    return fold.meshDecisions(meshChecks) { [isComplete, silence] in isComplete && silence.isOverdue($0, at: now) }
  }

  /// The events of an agent that waited for the engine at its last heartbeat; nil before it.
  func outbox(of agent: String) -> Int? { fold.nodes[agent] == nil ? nil : heartbeats.outbox(of: agent) }

  var droppedHeartbeats: UInt64 { heartbeats.dropped }

  /// The agents, sorted by id.
  var agents: [(id: String, node: FleetFoldedNode)] {
    fold.nodes.filter { $0.value.isAgent }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The targets, sorted by id.
  var targets: [(id: String, target: FleetFoldedTarget)] {
    fold.targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension Timestamp {
  /// The time of an engine's message.
  init(nanoseconds: Int64) { self.init(microseconds: nanoseconds / 1000) }
}
