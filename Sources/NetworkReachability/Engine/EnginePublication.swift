internal import ReachabilityModel

/// What one publication delivers: transitions, and which targets they concern.
struct EnginePublication {
  /// All transitions in order.
  var transitions: [Transition] = []
  /// The identifiers of the targets of the transitions of kind `host`, in their order.
  var targets: [EngineTargetID] = []
}
