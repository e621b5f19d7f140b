internal import EventLoop
internal import Glibc
internal import Locks
internal import ReachabilityModel
internal import Synchronization

/// What the thread and the source's callers share.
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
    /// Threads that wait for that one.
    var waiters: [pthread_t] = []
    /// Wakes the thread while there is one.
    var waker: Waker?
  }

  /// See ``KernelCounters``.
  let counters = Locked(KernelCounters())
  /// The socket for questions on demand, which the kernel answers at once; nil unless the source runs.
  let lookups = Locked<QuerySocket?>(nil)
  /// The socket for their barriers, apart from it: who waits for the kernel must not keep others from asking.
  let barriers = Locked<QuerySocket?>(nil)
  /// Whether the last reading saw IPv4 rules for packets from certain addresses.
  let hasSourceRules = Atomic(false)
  /// Opened when no further call to the observer will be made and everything is closed.
  let latch = Latch()
  private let lifecycle = Locked(Lifecycle())

  /// True once the end was asked for.
  var isStopping: Bool { lifecycle.withLock { $0.isStopping } }

  /// Begins the life of the source, with the calling thread as the one that calls the observer.
  ///
  /// - Returns: false when it began or ended before.
  func begin() -> Bool {
    lifecycle.withLock { lifecycle in
      guard lifecycle.phase == .idle else { return false }
      lifecycle.phase = .running
      lifecycle.observerThread = pthread_self()
      return true
    }
  }

  /// The thread that called ``begin()`` will not call the observer again.
  ///
  /// - Returns: false when the end was asked for meanwhile.
  func handOver() -> Bool {
    lifecycle.withLock { lifecycle in
      lifecycle.observerThread = nil
      return !lifecycle.isStopping
    }
  }

  /// The calling thread calls the observer from now on.
  func adoptThread() {
    lifecycle.withLock { $0.observerThread = pthread_self() }
  }

  /// Sets what ``wake()`` uses.
  func setWaker(_ waker: Waker) {
    lifecycle.withLock { $0.waker = waker }
  }

  /// Ends the wait of the thread, if there is one.
  func wake() { lifecycle.withLock(\.waker)?.wake() }

  /// Asks for the end.
  ///
  /// - Returns: true when the caller must wait for the latch: when there is something to end, and it is neither the caller nor
  ///   waits for it.
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

  /// Closes what is shared and says that the end has come.
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
