/// Limits how often each account changes and removes registered targets, because each change is an event of the history.
struct QuotaChangeRateLimiter: Sendable {
  /// Of tokens in the configuration and of callers without one, so there are never more than these.
  private var buckets: [TargetAccount: QuotaRateBucket] = [:]

  /// Counts a change by a caller.
  ///
  /// - Parameters:
  ///   - account: the caller's account.
  ///   - limits: the limits of the schedule.
  ///   - now: the present time.
  /// - Returns: nil, or in how many seconds the next change is admitted.
  mutating func admit(_ account: TargetAccount, _ limits: ScheduleLimits, at now: Duration) -> ScheduleChangeError? {
    guard account != .file, let limit = limits.changesPerSecond(of: account) else { return nil }
    var bucket = buckets[account] ?? QuotaRateBucket(capacity: ScheduleLimits.changeBurst, at: now)
    bucket.refill(perSecond: Double(limit), capacity: ScheduleLimits.changeBurst, at: now)
    let shortage = bucket.shortage(of: 1)
    if shortage == 0 { bucket.take(1) }
    buckets[account] = bucket
    guard shortage > 0 else { return nil }
    var scope = QuotaExcess.Scope.all
    if case .token(let id) = account, limits.own(account).changesPerSecond != nil { scope = .token(id) }
    return .rateLimited(
      seconds: max(1, Int((shortage / Double(limit)).rounded(.up))), .changesPerSecond(limit: limit, scope))
  }

  /// Removes what was counted for some accounts.
  mutating func forget(_ isForgotten: (TargetAccount) -> Bool) { buckets = buckets.filter { !isForgotten($0.key) } }
}
