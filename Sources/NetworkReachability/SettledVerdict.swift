internal import ReachabilityModel

/// A verdict that is published at once when it gets better, and after a settle time when it gets lost.
///
/// `ip route del default; ip route add default …` is two events less than a millisecond apart: without the wait every
/// replaced route would be an outage. The wait starts at the first loss and is not prolonged by further events, so that
/// a flood cannot starve it; what is published at its end is the verdict of that moment.
struct SettledVerdict<Verdict: Equatable> {
  /// What everybody has been told.
  private(set) var published: Verdict
  /// When a loss that waits is judged again; nil when none waits.
  private(set) var holdUntil: Duration?

  init(_ verdict: Verdict) { published = verdict }

  /// Takes in the verdict of a reading made at `uptime`, where `isLoss` tells whether it loses what was published.
  mutating func take(
    _ verdict: Verdict, at uptime: Duration, settle: Duration, isLoss: (_ old: Verdict, _ new: Verdict) -> Bool
  ) {
    guard isLoss(published, verdict), settle > .zero else { return replace(with: verdict) }
    guard let holdUntil else {
      self.holdUntil = uptime + settle
      return
    }
    if uptime >= holdUntil { replace(with: verdict) }
  }

  /// Publishes a verdict without waiting.
  mutating func replace(with verdict: Verdict) {
    published = verdict
    holdUntil = nil
  }
}

extension NetworkPath {
  /// True when going from one path to another loses the way.
  static func isLoss(_ old: NetworkPath, _ new: NetworkPath) -> Bool {
    old.status.isReachable && !new.status.isReachable
  }
}
