package import HTTPRouting
internal import ReachabilityChecks

/// Counts the checks that clients request against their limits.
package struct CheckRequestQuota: Sendable {
  private let schedule: CheckSchedule
  private let rateLimiter = CheckRateLimiter()

  init(_ schedule: CheckSchedule) { self.schedule = schedule }

  /// Counts checks against the limits of the client's account, and against the rate limit per client unless the token
  /// has a rate limit.
  package func admit(_ count: Int, _ request: RoutedRequest) throws(Problem) {
    let account = request.account
    if schedule.quota.limits.own(account).checksPerSecond == nil { try admitClient(count, request.client) }
    switch schedule.quota.admit(count, for: account) {
    case .admitted: return
    case .later(let seconds, let excess):
      throw Problem(.rateLimited, Problem(excess).detail, headers: ["Retry-After": String(seconds)])
    case .never(let excess): throw Problem(excess)
    }
  }

  /// Counts the addresses that checks have contacted besides the first ones, against the same limits.
  ///
  /// Their number is not known before. A client that exceeds its limit this way waits longer before its next checks.
  func charge(_ outcomes: [CheckOutcome], _ request: RoutedRequest) {
    let count = outcomes.reduce(0) { $0 + max(0, $1.result.evidence.attempts.count - 1) }
    guard count > 0 else { return }
    let account = request.account
    if schedule.quota.limits.own(account).checksPerSecond == nil { rateLimiter.charge(count, client: request.client) }
    schedule.quota.charge(count, for: account)
  }

  private func admitClient(_ count: Int, _ client: String) throws(Problem) {
    guard count <= Int(CheckRateLimiter.burst) else {
      throw Problem(
        .badRequest,
        "the request has \(count) checks, repetitions and address families included; at most "
          + "\(Int(CheckRateLimiter.burst)) are allowed"
      )
    }
    guard let seconds = rateLimiter.consume(count, client: client) else { return }
    throw Problem(
      .rateLimited, "more than \(Int(CheckRateLimiter.ratePerSecond)) checks per second; retry later",
      headers: ["Retry-After": String(seconds)])
  }
}

extension RoutedRequest {
  /// The account for the targets and checks of this request.
  var account: TargetAccount { token.map { .token($0) } ?? .anonymous }
}
