internal import HTTPRouting
internal import ReachabilityChecks

/// The objects that the routes of active checks use.
struct CheckContext: Sendable {
  var checker: Checker
  /// Returns the current contact policy; it includes this machine's addresses, which change.
  var policy: @Sendable () -> ContactPolicy
  /// Returns the modules that extend or replace the built-in ones; a reload may change them.
  var configuredModules: @Sendable () -> [CheckModule]
  /// Counts the checks against the limits of their clients.
  var quota: CheckRequestQuota

  /// The modules that a client may name.
  var modules: [String: CheckModule] {
    CheckPlan.builtInModules.merging(configuredModules().map { ($0.name, $0) }) { $1 }
  }
}
