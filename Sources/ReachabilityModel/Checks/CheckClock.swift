/// Tells a schedule of checks the time, and when it is time: this machine's clock, or in tests one that they move.
public protocol CheckClock: AnyObject, Sendable {
  /// The time since any one moment; it goes on while the machine sleeps.
  var uptime: Duration { get }

  /// The time for people, and for the places of targets in their intervals.
  var time: Timestamp { get }

  /// A timer that calls `body`, never twice at once, and that ends when it is let go.
  func makeTimer(_ body: @escaping @Sendable () -> Void) -> any CheckTimer
}

/// What wakes a schedule of checks; from any thread, under any lock.
public protocol CheckTimer: AnyObject, Sendable {
  /// Calls the body once, not before this ``CheckClock/uptime``, in place of what was asked for by an earlier call.
  func fire(at uptime: Duration)

  /// Calls the body once, soon, and after this call has returned.
  func fire()
}
