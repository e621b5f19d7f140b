/// Detects that the machine was suspended, or that this process was stopped for long (SIGSTOP, a frozen control group).
///
/// Afterwards the machine may be in another network, and events may be lost. CLOCK_BOOTTIME counts the time of a
/// suspend and CLOCK_MONOTONIC does not (clock_gettime(2)), so their difference grows by exactly that time. Setting the
/// wall clock changes neither.
struct SleepDetector {
  /// The total suspend time since boot at the last measurement.
  private var asleep: Duration
  /// When the current wait began.
  private var waitBegan: Duration

  /// Makes a detector that starts at `moment`.
  init(at moment: KernelClock.Moment) {
    asleep = moment.asleep
    waitBegan = moment.uptime
  }

  /// Records that a wait of at most ``Limits/heartbeat`` begins.
  mutating func waitBegins(at moment: KernelClock.Moment) { waitBegan = moment.uptime }

  /// Records that a wait has ended.
  ///
  /// - Returns: how long the machine was suspended or this process was stopped meanwhile; nil for neither.
  mutating func waitEnds(at moment: KernelClock.Moment) -> Duration? {
    let slept = moment.asleep - asleep
    // Two clocks cannot be read at the same instant: the value never decreases, so that the errors do not add up.
    asleep = max(asleep, moment.asleep)
    if slept >= Limits.sleepThreshold { return slept }
    let overtime = moment.uptime - waitBegan - Limits.heartbeat
    return overtime >= Limits.stopThreshold ? overtime : nil
  }
}
