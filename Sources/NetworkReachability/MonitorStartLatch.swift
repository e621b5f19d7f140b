internal import Dispatch
internal import Glibc
internal import Locks
internal import ReachabilityModel

/// Lets threads that call ``ReachabilityMonitor/start()`` while another thread starts the source wait for its first reading.
final class MonitorStartLatch: Sendable {
  private let thread = pthread_self()
  private let group = DispatchGroup()
  private let failure = Locked<KernelError?>(nil)

  /// A closed latch; the calling thread is the one that starts the source.
  init() { group.enter() }

  /// Opens the latch after the first reading, or after a failure; to be called once.
  func open(_ error: KernelError? = nil) {
    failure.withLock { $0 = error }
    group.leave()
  }

  /// Waits until the latch is open; returns immediately on the thread that starts the source, as in a listener that calls
  /// `start()`.
  ///
  /// - Throws: the error of the start.
  func wait() throws(KernelError) {
    guard pthread_equal(thread, pthread_self()) == 0 else { return }
    group.wait()
    if let error = failure.withLock(\.self) { throw error }
  }
}
