internal import ReachabilityModel

/// The reason that was told of a target's state: another one is news, unless the two only take turns.
struct ToldReason {
  private var told: Reason?
  private var last: Reason?
  /// Whether the last one was the same as the one before.
  private var isSteady = true

  /// The reason with which a state begins.
  init(_ reason: Reason?) { (told, last) = (reason, reason) }

  /// Notes the reason after a result, in the same state.
  ///
  /// - Returns: whether it is to be told: what was so once is told when it is so again.
  mutating func isNews(_ reason: Reason?) -> Bool {
    let wasSteady = isSteady
    isSteady = reason == last
    last = reason
    guard reason != told, wasSteady || isSteady else { return false }
    told = reason
    return true
  }
}
