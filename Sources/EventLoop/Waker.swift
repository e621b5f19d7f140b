internal import CEventLoop
internal import Glibc
internal import Synchronization

/// Ends the wait of a ``Poller`` from any thread (eventfd(2)).
package final class Waker: Sendable {
  /// Written by the first wake-up after ``clear()`` and never read, because an edge-triggered epoll reports each write.
  ///
  /// A read would cost one more system call per wake-up, and a write between the read and the handling of its message
  /// would wake the thread for nothing.
  private let descriptor: Int32
  private let pending = Atomic(false)

  /// Makes a waker.
  ///
  /// - Throws: an ``EventLoopError`` if the process or the system has no descriptors left.
  package init() throws(EventLoopError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw EventLoopError(operation: "eventfd", errno: errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds the waker to a poller.
  ///
  /// - Throws: an ``EventLoopError`` if the kernel refuses.
  package func attach(to poller: Poller, token: UInt64) throws(EventLoopError) {
    try poller.add(descriptor, [.readable, .edgeTriggered], token: token)
  }

  /// Ends the current wait, or the next one; one system call for all wake-ups until the thread calls ``clear()``.
  package func wake() {
    guard !pending.exchange(true, ordering: .sequentiallyConsistent) else { return }
    eventfd_write(descriptor, 1)
  }

  /// Whether ``wake()`` was called since the last ``clear()``.
  package var isPending: Bool { pending.load(ordering: .acquiring) }

  /// Acknowledges the wake-ups so far; called by the woken thread before it looks for the reason.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package func clear() -> Bool { pending.exchange(false, ordering: .sequentiallyConsistent) }
}
