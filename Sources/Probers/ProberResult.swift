internal import ReachabilityModel

/// The result of an exchange, or of the attempt to contact one address.
struct ProberResult: Error {
  var state: CheckResult.State
  var reason: Reason?
  var detail: String?

  init(_ state: CheckResult.State, _ reason: Reason? = nil, detail: String? = nil) {
    self.state = state
    self.reason = reason
    self.detail = detail
  }

  static let up = ProberResult(.up)

  static let cancelled = ProberResult(
    .unknown, .cancelled, detail: "the check was cancelled before it had a result")

  /// The same for every resolution result: a denial must not reveal which names exist.
  static let denied = ProberResult(
    .unknown, .policyDenied, detail: "the policy does not allow to contact this target")
}
