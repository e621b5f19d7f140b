internal import EventLoop
internal import Synchronization

/// A timer on the thread of TCP, HTTP, TLS and DNS checks, for code that starts such checks there.
///
/// A timer on another thread would cost several context switches for each group of checks. It ends when it is released.
package final class ProberTimer: Sendable {
  private let inbox: ProberInbox
  private let body: @Sendable () -> Void
  /// The deadline in nanoseconds of ``MonotonicInstant``; ``unset`` for none.
  private let deadline = Atomic(unset)
  private static let unset = Int64.max

  /// Makes a timer that calls `body` on the thread; it must not block.
  init(_ inbox: ProberInbox, _ body: @escaping @Sendable () -> Void) {
    self.inbox = inbox
    self.body = body
    inbox.add(self)
  }

  /// Calls the body once, when `delay` has passed; replaces the time of an earlier call.
  ///
  /// - Returns: false if the thread is stopped or cannot be started; the body is not called then.
  package func fire(after delay: Duration) -> Bool {
    deadline.store(MonotonicInstant.now.advanced(by: delay).nanoseconds, ordering: .releasing)
    return inbox.wake()
  }

  /// When it fires; nil when it is not set.
  var earliest: MonotonicInstant? {
    let time = deadline.load(ordering: .acquiring)
    return time == Self.unset ? nil : MonotonicInstant(nanoseconds: time)
  }

  /// Calls the body if the deadline has passed.
  func fireIfDue(_ now: MonotonicInstant) {
    let time = deadline.load(ordering: .acquiring)
    guard time <= now.nanoseconds else { return }
    // Another thread may have set a later time meanwhile.
    guard deadline.compareExchange(expected: time, desired: Self.unset, ordering: .acquiringAndReleasing).exchanged
    else {
      return
    }
    body()
  }
}
