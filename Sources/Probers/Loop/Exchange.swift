internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// The asking of one address, by one protocol.
///
/// Confined to the prober's thread. It concludes by ``ProberLoop/conclude(_:_:)``, once, from any of these calls.
protocol Exchange: AnyObject {
  /// Sends what comes first.
  func begin()
  /// The moment that it asked for has come (``ProberLoop/wake(_:at:)``).
  func awake()
  /// What it came to, now that the time is over.
  func overdue() -> Finding
  /// Lets go of every descriptor; nothing is called after it.
  func end()
}

/// Whoever owns a descriptor that the loop watches.
///
/// A call may come without cause: after a descriptor's number was given to another owner within one round.
protocol DescriptorHandler: AnyObject {
  func ready(_ event: Poller.Event)
}
