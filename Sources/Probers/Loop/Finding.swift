internal import ReachabilityModel

/// What asking one address came to.
struct Finding: Error {
  var state: CheckResult.State
  var reason: Reason?
  var detail: String?
  /// Whether the next address of the name may be asked: this one could not be reached at all.
  var allowsNextAddress = false

  init(_ state: CheckResult.State, _ reason: Reason? = nil, detail: String? = nil, allowsNextAddress: Bool = false) {
    self.state = state
    self.reason = reason
    self.detail = detail
    self.allowsNextAddress = allowsNextAddress
  }

  static let up = Finding(.up)

  static let cancelled = Finding(.unknown, .cancelled, detail: "the check was ended before it had a result")

  /// Says the same whatever was resolved, found or missing: a denial is no means to explore with.
  static let denied = Finding(.unknown, .policyDenied, detail: "the policy does not allow to contact this target")
}
