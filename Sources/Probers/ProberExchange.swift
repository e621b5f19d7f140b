internal import EventLoop
internal import ReachabilityModel

/// The communication with a host by one protocol: with the first of its addresses that answers (``AddressConnector``).
///
/// Confined to the prober's thread. It ends with exactly one call of ``ProberLoop/conclude(_:_:)``, from any of these
/// functions.
protocol ProberExchange: AnyObject {
  func begin()
  /// Called when a limiter has admitted the check again, which had to wait before it contacted another address.
  func resume()
  /// Called at the requested time (``ProberLoop/wake(_:at:)``).
  func awake()
  /// Called when the end of the check's time has been moved, because the thread was delayed.
  func deadlineMoved()
  /// The result at the end of the check's time.
  func overdue() -> ProberResult
  /// Called with the addresses of a name that it has had resolved (``ProberLoop/resolve(_:for:)``).
  func resolved(_ outcome: Result<[SocketPeer], ProberResult>)
  /// Releases every descriptor; no function is called after it.
  func end()
}

extension ProberExchange {
  func deadlineMoved() {}
  func resolved(_ outcome: Result<[SocketPeer], ProberResult>) {}
}

/// The options of a protocol that is not a ``CheckOptions/dialogue``: they make its exchange.
protocol ProberOptions: CheckOptions {
  /// The exchange of a check; nil if there is no memory.
  func exchange(_ check: ProberCheck, _ loop: ProberLoop) -> (any ProberExchange)?
}

/// The owner of a descriptor that the loop watches.
///
/// A call may be spurious: when the number of a closed descriptor is assigned to another owner within one iteration.
protocol ProberDescriptorHandler: AnyObject {
  func ready(_ event: Poller.Event)
}
