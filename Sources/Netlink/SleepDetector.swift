internal import ReachabilityModel

/// Finds out that the machine slept, or that this process stood still for long (SIGSTOP, a frozen control group).
///
/// The network after it may be another one, and what the kernel said meanwhile may be lost. CLOCK_BOOTTIME counts the
/// time of a suspend and CLOCK_MONOTONIC does not (clock_gettime(2)), so their difference grows by exactly that, and
/// by nothing else: a wall clock that somebody sets moves neither.
struct SleepDetector {
  /// How long the machine had slept since its boot when it was last looked at.
  private var asleep: Duration
  /// When the wait that goes on began.
  private var waitBegan: Duration

  /// A detector that begins to look now.
  init(at moment: KernelClock.Moment) {
    asleep = moment.asleep
    waitBegan = moment.uptime
  }

  /// A wait of at most ``Limits/heartbeat`` begins.
  mutating func waitBegins(at moment: KernelClock.Moment) { waitBegan = moment.uptime }

  /// A wait has ended.
  ///
  /// - Returns: how long the machine slept or this process stood still meanwhile; nil when neither did.
  mutating func waitEnds(at moment: KernelClock.Moment) -> Duration? {
    let slept = moment.asleep - asleep
    // Two clocks cannot be read at once: never backwards, so that no such error adds up.
    asleep = max(asleep, moment.asleep)
    if slept >= Limits.sleepThreshold { return slept }
    let overtime = moment.uptime - waitBegan - Limits.heartbeat
    return overtime >= Limits.stopThreshold ? overtime : nil
  }
}
