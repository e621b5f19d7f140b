internal import EventLoop

/// An attempt to contact one address: a TCP connection, a sequence of echo requests, a DNS query.
///
/// Confined to the prober's thread. It reports to its ``AddressConnector`` that the address has answered, or that it failed.
protocol AddressAttempt: AnyObject {
  var peer: SocketPeer { get }
  /// When it must be called; nil for never.
  var wakeTime: MonotonicInstant? { get set }
  func begin()
  /// Called at the requested time.
  func awake()
  /// The result at the end of the check's time.
  func overdue() -> ProberResult
  /// Releases every descriptor; no function is called after it.
  func end()
}

/// An exchange that contacts one of several addresses.
protocol AddressConnectorOwner: AnyObject {
  func attempt(_ peer: SocketPeer, of connector: AddressConnector) -> any AddressAttempt
  /// Called when the first address has answered: its attempt belongs to the owner from now on, and the others are ended.
  func contacted(_ attempt: any AddressAttempt)
}
