internal import CNetlink
internal import Glibc
public import ReachabilityModel

/// The clocks that a reading carries, and the one that shows a sleep.
public enum KernelClock {
  /// One moment of this machine's life.
  public struct Moment: Sendable {
    /// CLOCK_MONOTONIC since its own zero.
    public var uptime: Duration
    /// How long the machine has slept since its boot: CLOCK_BOOTTIME less CLOCK_MONOTONIC.
    public var asleep: Duration

    /// A moment from its two numbers.
    public init(uptime: Duration, asleep: Duration) {
      self.uptime = uptime
      self.asleep = asleep
    }
  }

  /// This moment.
  public static var now: Moment {
    // In this order, so that being interrupted between the two makes a sleep look shorter, never longer.
    let sinceBoot = read(CLOCK_BOOTTIME)
    let uptime = uptime
    return Moment(
      uptime: uptime,
      asleep: .seconds(Int64(sinceBoot.tv_sec)) + .nanoseconds(Int64(sinceBoot.tv_nsec)) - uptime)
  }

  /// CLOCK_MONOTONIC since its own zero.
  public static var uptime: Duration {
    let now = read(CLOCK_MONOTONIC)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec))
  }

  /// CLOCK_REALTIME.
  public static var time: Timestamp {
    let now = read(CLOCK_REALTIME)
    return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var now = timespec()
    unsafe clock_gettime(clock, &now)
    return now
  }
}

extension timespec {
  /// A duration of zero or more as C writes it; less than zero becomes zero.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = max(duration, .zero).components
    self.init(tv_sec: Int(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}
