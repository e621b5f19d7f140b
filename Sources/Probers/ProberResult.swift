internal import ReachabilityModel

/// The result of an exchange with one address.
struct ProberResult: Error {
  var state: CheckResult.State
  var reason: Reason?
  var detail: String?
  /// Whether the next address of the name may be tried: this one was unreachable.
  var allowsNextAddress = false

  init(_ state: CheckResult.State, _ reason: Reason? = nil, detail: String? = nil, allowsNextAddress: Bool = false) {
    self.state = state
    self.reason = reason
    self.detail = detail
    self.allowsNextAddress = allowsNextAddress
  }

  static let up = ProberResult(.up)

  static let cancelled = ProberResult(
    .unknown, .cancelled, detail: "the check was cancelled before it had a result")

  /// The same for every resolution result: a denial must not reveal which names exist.
  static let denied = ProberResult(
    .unknown, .policyDenied, detail: "the policy does not allow to contact this target")
}
