internal import NetworkReachability

/// What the routes of active checks work with.
struct CheckDesk: Sendable {
  var checker: Checker
  /// The modules that a caller may name.
  var modules: [String: ProbeModule]
  /// Whom callers may contact, as of now: this machine's addresses change.
  var policy: @Sendable () -> ContactPolicy
  var quota = CheckQuota()
}
