internal import Netlink
public import ReachabilityModel

extension Timestamp {
  /// The present time by CLOCK_REALTIME.
  public static var now: Timestamp { KernelClock.time }
}
