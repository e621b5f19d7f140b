internal import CEventLoop
internal import Glibc

/// A timer that any thread sets and one thread waits for (timerfd_create(2)).
///
/// Setting it wakes no thread: that happens when it expires.
package final class OneShotTimer: Sendable {
  private let descriptor: Int32

  /// Makes a timer that is not set.
  ///
  /// - Throws: an ``EventLoopError`` if the process or the system has no descriptors left.
  package init() throws(EventLoopError) {
    descriptor = CEventLoop_make_timer()
    guard descriptor >= 0 else { throw EventLoopError(operation: "timerfd_create", errno: errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds the timer to a poller, which reports each expiry once.
  ///
  /// - Throws: an ``EventLoopError`` if the kernel refuses.
  package func attach(to poller: Poller, token: UInt64) throws(EventLoopError) {
    try poller.add(descriptor, [.readable, .edgeTriggered], token: token)
  }

  /// Sets the time of the next expiry, which replaces the one before.
  package func set(after delay: Duration) {
    // Zero would clear the timer.
    CEventLoop_set_timer(descriptor, max(1, delay.nanoseconds))
  }
}
