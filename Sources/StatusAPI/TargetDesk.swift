internal import NetworkReachability

/// What the routes of registered targets work with.
struct TargetDesk: Sendable {
  var schedule: CheckSchedule
  /// The modules that a caller may name besides the built-in ones.
  var modules: [ProbeModule]
}
