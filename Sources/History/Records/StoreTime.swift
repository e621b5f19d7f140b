internal import EventLoop

/// A time on two clocks, in microseconds.
public struct StoreTime: Hashable, Sendable {
  /// Since 1970 (CLOCK_REALTIME).
  public var wall: Int64
  /// Since the machine was started, including sleep (CLOCK_BOOTTIME).
  public var uptime: Int64

  /// Makes a time from its parts.
  public init(wall: Int64, uptime: Int64) {
    self.wall = wall
    self.uptime = uptime
  }

  /// The present time.
  public static var now: StoreTime {
    StoreTime(wall: SystemClock.realtime / 1000, uptime: SystemClock.boottime / 1000)
  }
}
