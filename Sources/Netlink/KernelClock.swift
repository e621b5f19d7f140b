internal import CNetlink
internal import EventLoop
internal import Glibc
package import ReachabilityModel

/// The clocks that a reading contains, and the clock that shows a suspend.
package enum KernelClock {
  package struct Moment: Sendable {
    /// CLOCK_MONOTONIC since its own zero.
    package var uptime: Duration
    /// The time that the machine has been suspended since boot: CLOCK_BOOTTIME minus CLOCK_MONOTONIC.
    package var asleep: Duration
  }

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

/// A timer on CLOCK_REALTIME that never expires, but is cancelled when that clock jumps, which includes the end of a
/// suspend (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
///
/// It wakes the thread after a suspend without periodic wake-ups.
struct KernelClockChangeTimer {
  private let descriptor: NetlinkDescriptor

  /// The descriptor, for epoll: readable after a jump.
  var number: Int32 { descriptor.number }

  /// Starts the timer.
  ///
  /// - Throws: a ``KernelError`` when the kernel refuses.
  init() throws(KernelError) {
    let timer = try NetlinkSyscall.check("timerfd_create") {
      timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    }
    descriptor = NetlinkDescriptor(Int32(timer))
    var setting = itimerspec()
    setting.it_value.tv_sec = Limits.distantFuture
    let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
    try NetlinkSyscall.check("timerfd_settime") { unsafe timerfd_settime(number, flags, &setting, nil) }
  }

  /// Acknowledges all jumps so far; the timer reports the next one.
  func clear() {
    var count: UInt64 = 0
    // ECANCELED is the report of the jump.
    _ = NetlinkSyscall.raw { () -> Int in unsafe read(number, &count, MemoryLayout<UInt64>.size) }
  }
}
