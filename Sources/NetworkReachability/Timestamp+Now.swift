internal import Netlink
public import ReachabilityModel

extension Timestamp {
  /// This moment, by CLOCK_REALTIME.
  public static var now: Timestamp { KernelClock.time }
}
