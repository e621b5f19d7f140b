internal import EventLoop
package import ReachabilityModel

/// The clocks that a reading contains, and the clock that shows a suspend.
package enum KernelClock {
  /// One moment, on two clocks.
  package struct Moment: Sendable {
    /// CLOCK_MONOTONIC since its own zero.
    package var uptime: Duration
    /// The time that the machine has been suspended since boot: CLOCK_BOOTTIME minus CLOCK_MONOTONIC.
    package var asleep: Duration

    /// A moment from its two numbers.
    package init(uptime: Duration, asleep: Duration) {
      self.uptime = uptime
      self.asleep = asleep
    }
  }

  /// This moment.
  package static var now: Moment {
    // In this order, so that a preemption between the two reads makes a suspend look shorter, never longer.
    let sinceBoot = SystemClock.boottime
    let uptime = uptime
    return Moment(uptime: uptime, asleep: .nanoseconds(sinceBoot) - uptime)
  }

  /// CLOCK_MONOTONIC since its own zero.
  package static var uptime: Duration { MonotonicInstant.now.sinceZero }

  /// CLOCK_REALTIME.
  package static var time: Timestamp { Timestamp(microseconds: SystemClock.realtime / 1_000) }
}
