internal import EventLoop
internal import Glibc
internal import Locks
internal import ReachabilityModel
internal import Synchronization

/// The state that the thread and the source's callers share.
final class NetlinkShared: Sendable {
  private enum Phase {
    case idle
    case running
    case ended
  }

  private struct Lifecycle {
    var phase = Phase.idle
    var isStopping = false
    /// The thread that calls the observer now, which cannot wait for its own end; nil between two such threads.
    var observerThread: pthread_t?
    /// Threads that wait for the observer thread.
    var waiters: [pthread_t] = []
    /// Wakes the thread while it runs.
    var waker: Waker?
  }

  let counters = Locked(KernelCounters())
  /// The socket for lookups that the kernel answers immediately; nil unless the source runs.
  let lookups = Locked<NetlinkQuerySocket?>(nil)
  /// A separate socket for lookups behind a barrier: a caller that waits for the kernel must not block other lookups.
  let barriers = Locked<NetlinkQuerySocket?>(nil)
  /// What the policy rules of the last reading match: the raw value of ``NetlinkRuleSelectors``.
  let rules = Atomic<UInt8>(0)
  /// Opened after the last call to the observer, when everything is closed.
  let latch = Latch()
  private let lifecycle = Locked(Lifecycle())

  /// True after the stop was requested.
  var isStopping: Bool { lifecycle.withLock { $0.isStopping } }

  /// Starts the source, with the calling thread as the observer thread.
  ///
  /// - Returns: false when the source was started or stopped before.
  func begin() -> Bool {
    lifecycle.withLock { lifecycle in
      guard lifecycle.phase == .idle else { return false }
      lifecycle.phase = .running
      lifecycle.observerThread = pthread_self()
      return true
    }
  }

  /// Ends the calls to the observer from the thread that called ``begin()``.
  ///
  /// - Returns: false when the stop was requested meanwhile.
  func handOver() -> Bool {
    lifecycle.withLock { lifecycle in
      lifecycle.observerThread = nil
      return !lifecycle.isStopping
    }
  }

  /// Makes the calling thread the observer thread.
  func adoptThread() {
    lifecycle.withLock { $0.observerThread = pthread_self() }
  }

  /// Sets the waker that ``wake()`` uses.
  func setWaker(_ waker: Waker) {
    lifecycle.withLock { $0.waker = waker }
  }

  /// Wakes the thread, if it runs.
  func wake() { lifecycle.withLock(\.waker)?.wake() }

  /// Requests the stop.
  ///
  /// - Returns: true when the caller must wait for the latch: when the source runs, and the observer thread is neither
  ///   the caller nor waiting for it.
  func requestStop() -> Bool {
    lifecycle.withLock { lifecycle in
      lifecycle.isStopping = true
      if lifecycle.phase == .idle {
        lifecycle.phase = .ended
        latch.open()
      }
      lifecycle.waker?.wake()
      guard lifecycle.phase == .running, let thread = lifecycle.observerThread else { return true }
      guard thread != pthread_self(), WaitForGraph.begin(pthread_self(), for: thread) else { return false }
      lifecycle.waiters.append(pthread_self())
      return true
    }
  }

  /// Closes what is shared and opens the latch.
  func end() {
    lifecycle.withLock { lifecycle in
      lifecycle.phase = .ended
      lifecycle.waker = nil
      lifecycle.observerThread = nil
      lifecycle.waiters.forEach(WaitForGraph.end)
      lifecycle.waiters = []
    }
    lookups.withLock { $0 = nil }
    barriers.withLock { $0 = nil }
    latch.open()
  }
}
