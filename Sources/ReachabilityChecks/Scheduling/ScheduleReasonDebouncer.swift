internal import ReachabilityModel

/// Decides whether a new reason for an unchanged state is reported: not when two reasons only alternate.
struct ScheduleReasonDebouncer {
  private var reported: Reason?
  private var last: Reason?
  /// The last two reasons were equal.
  private var isStable = true

  /// The reason with which a state begins.
  init(_ reason: Reason?) { (reported, last) = (reason, reason) }

  /// Records the reason of a result in the same state.
  ///
  /// - Returns: whether to report it: a reason is reported when it occurs twice in succession, or after a stable one.
  mutating func update(_ reason: Reason?) -> Bool {
    let wasStable = isStable
    isStable = reason == last
    last = reason
    guard reason != reported, wasStable || isStable else { return false }
    reported = reason
    return true
  }
}
