internal import CNetlink
internal import Glibc
public import ReachabilityModel

/// The two clocks that a reading carries.
public enum KernelClock {
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
