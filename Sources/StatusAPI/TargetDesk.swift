internal import NetworkReachability

/// What the routes of registered targets work with.
struct TargetDesk: Sendable {
  var schedule: CheckSchedule
  /// The modules that a caller may name besides the built-in ones; a reload may change them.
  var more: @Sendable () -> [ProbeModule]

  var modules: [ProbeModule] { more() }
}
