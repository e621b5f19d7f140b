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

  private struct Life {
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
  private let life = Locked(Life())

  /// True once the end was asked for.
  var isStopping: Bool { life.withLock { $0.isStopping } }

  /// Begins the life of the source, with the calling thread as the one that calls the observer.
  ///
  /// - Returns: false when it began or ended before.
  func begin() -> Bool {
    life.withLock { life in
      guard life.phase == .idle else { return false }
      life.phase = .running
      life.observerThread = pthread_self()
      return true
    }
  }

  /// The thread that called ``begin()`` will not call the observer again.
  ///
  /// - Returns: false when the end was asked for meanwhile.
  func handOver() -> Bool {
    life.withLock { life in
      life.observerThread = nil
      return !life.isStopping
    }
  }

  /// The calling thread calls the observer from now on.
  func adoptThread() {
    life.withLock { $0.observerThread = pthread_self() }
  }

  /// Sets what ``wake()`` uses.
  func setWaker(_ waker: Waker) {
    life.withLock { $0.waker = waker }
  }

  /// Ends the wait of the thread, if there is one.
  func wake() { life.withLock(\.waker)?.wake() }

  /// Asks for the end.
  ///
  /// - Returns: true when the caller must wait for the latch: when there is something to end, and it is neither the caller nor
  ///   waits for it.
  func requestStop() -> Bool {
    life.withLock { life in
      life.isStopping = true
      if life.phase == .idle {
        life.phase = .ended
        latch.open()
      }
      life.waker?.wake()
      guard life.phase == .running, let thread = life.observerThread else { return true }
      guard thread != pthread_self(), ThreadWaits.begin(pthread_self(), for: thread) else { return false }
      life.waiters.append(pthread_self())
      return true
    }
  }

  /// Closes what is shared and says that the end has come.
  func end() {
    life.withLock { life in
      life.phase = .ended
      life.waker = nil
      life.observerThread = nil
      life.waiters.forEach(ThreadWaits.end)
      life.waiters = []
    }
    lookups.withLock { $0 = nil }
    barriers.withLock { $0 = nil }
    latch.open()
  }
}
