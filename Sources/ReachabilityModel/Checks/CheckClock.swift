/// The clock of a schedule of checks: the system's, or in tests one that they advance.
public protocol CheckClock: AnyObject, Sendable {
  /// The time since an arbitrary start; it continues while the machine is suspended.
  var uptime: Duration { get }

  /// The wall-clock time, which also determines the offsets of targets in their intervals.
  var time: Timestamp { get }

  /// Creates a timer that calls `body`, never concurrently, and that ends when it is released.
  func makeTimer(_ body: @escaping @Sendable () -> Void) -> any CheckTimer
}

/// A timer of a schedule of checks; usable from any thread and under any lock.
public protocol CheckTimer: AnyObject, Sendable {
  /// Calls the body once, not before this ``CheckClock/uptime``; replaces the time of an earlier call.
  func fire(at uptime: Duration)

  /// Calls the body once, soon, after this call has returned.
  func fire()
}
