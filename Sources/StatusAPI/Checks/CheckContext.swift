internal import ReachabilityChecks

/// What the routes of active checks work with.
struct CheckContext: Sendable {
  var checker: Checker
  /// Whom callers may contact, as of now: this machine's addresses change.
  var policy: @Sendable () -> ContactPolicy
  /// Modules besides the built-in ones, or in their place; a reload may change them.
  var configuredModules: @Sendable () -> [CheckModule]
  var rateLimiter = CheckRateLimiter()

  /// The modules that a caller may name.
  var modules: [String: CheckModule] {
    CheckPlan.builtInModules.merging(configuredModules().map { ($0.name, $0) }) { $1 }
  }
}
