internal import NetworkReachability
internal import ReachabilityFleet

/// The state of the fleet at one moment.
struct FleetSnapshot: Sendable {
  var fold: FleetFold
  /// Whether the fold has everything that the stream has.
  var isComplete: Bool
  /// Whether the engine is connected.
  var isConnected: Bool
  var heartbeats: [String: HeartbeatMessage]
  private let silence: FleetSilenceTracker
  /// The id of the last event, or of the moment before the first.
  var last: FleetEventID

  init(_ state: FleetService.State) {
    fold = state.replica.fold
    isComplete = state.replica.isComplete
    isConnected = state.replica.isConnected
    heartbeats = state.heartbeats
    silence = state.replica.silence
    last =
      state.window.last
      ?? FleetEventID(epoch: state.replica.fold.epoch, number: state.window.oldest, check: 0)
  }

  /// What the agents say about each other; while the stream is not followed, it is the last state.
  var meshDecisions: [String: FleetQuorumRules.Decision] {
    let now = FleetService.now
    return fold.meshDecisions { [isComplete, silence] in isComplete && silence.isOverdue($0, at: now) }
  }

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
