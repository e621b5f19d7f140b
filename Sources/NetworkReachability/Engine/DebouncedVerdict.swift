internal import ReachabilityModel

/// A verdict that is published immediately when it improves, and after a settle time when reachability is lost.
///
/// `ip route del default; ip route add default …` is two events less than a millisecond apart: without the delay every
/// replaced route would be an outage. The delay starts at the first loss and further events do not extend it, so that
/// continuous events cannot postpone it; the verdict at its end is published.
struct DebouncedVerdict<Verdict: Equatable> {
  /// The last published verdict.
  private(set) var published: Verdict
  /// The uptime at which a pending loss is evaluated again; nil when no loss is pending.
  private(set) var holdUntil: Duration?

  init(_ verdict: Verdict) { published = verdict }

  /// Applies the verdict of a reading made at `uptime`; `isLoss` returns whether it loses what was published.
  mutating func update(
    to verdict: Verdict, at uptime: Duration, settle: Duration, isLoss: (_ old: Verdict, _ new: Verdict) -> Bool
  ) {
    guard isLoss(published, verdict), settle > .zero else { return replace(with: verdict) }
    guard let holdUntil else {
      self.holdUntil = uptime + settle
      return
    }
    if uptime >= holdUntil { replace(with: verdict) }
  }

  /// Publishes a verdict without a delay.
  mutating func replace(with verdict: Verdict) {
    published = verdict
    holdUntil = nil
  }
}

extension NetworkPath {
  /// Whether a change from one path to another loses reachability.
  static func isLoss(_ old: NetworkPath, _ new: NetworkPath) -> Bool {
    old.status.isReachable && !new.status.isReachable
  }
}
