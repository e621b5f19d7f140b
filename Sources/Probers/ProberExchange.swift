internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// The communication with one address by one protocol.
///
/// Confined to the prober's thread. It ends with exactly one call of ``ProberLoop/conclude(_:_:)``, from any of these
/// functions.
protocol ProberExchange: AnyObject {
  /// Starts the exchange.
  func begin()
  /// Called at the requested time (``ProberLoop/wake(_:at:)``).
  func awake()
  /// Called when the end of the check's time has been moved, because the thread was delayed.
  func deadlineMoved()
  /// The result at the end of the check's time.
  func overdue() -> ProberResult
  /// Releases every descriptor; no function is called after it.
  func end()
}

extension ProberExchange {
  func deadlineMoved() {}
}

/// The owner of a descriptor that the loop watches.
///
/// A call may be spurious: when the number of a closed descriptor is assigned to another owner within one iteration.
protocol ProberDescriptorHandler: AnyObject {
  func ready(_ event: Poller.Event)
}
