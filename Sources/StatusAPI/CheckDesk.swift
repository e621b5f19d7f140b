internal import ReachabilityChecks

/// What the routes of active checks work with.
struct CheckDesk: Sendable {
  var checker: Checker
  /// Whom callers may contact, as of now: this machine's addresses change.
  var policy: @Sendable () -> ContactPolicy
  /// Modules besides the built-in ones, or in their place; a reload may change them.
  var more: @Sendable () -> [ProbeModule]
  var quota = CheckQuota()

  /// The modules that a caller may name.
  var modules: [String: ProbeModule] {
    CheckPlan.builtInModules.merging(more().map { ($0.name, $0) }) { $1 }
  }
}
