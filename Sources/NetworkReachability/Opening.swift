internal import Dispatch
internal import Glibc
internal import Locks
internal import ReachabilityModel

/// A source on its way to its first reading, for those who start meanwhile on other threads and must wait for it.
final class Opening: Sendable {
  private let thread = pthread_self()
  private let group = DispatchGroup()
  private let failure = Locked<KernelError?>(nil)

  /// The calling thread begins.
  init() { group.enter() }

  /// The first reading was made, or could not be; to be called once.
  func end(_ error: KernelError? = nil) {
    failure.withLock { $0 = error }
    group.leave()
  }

  /// Waits for the end; the thread that makes the reading, in a listener that starts again, does not.
  ///
  /// - Throws: why there is no first reading.
  func wait() throws(KernelError) {
    guard pthread_equal(thread, pthread_self()) == 0 else { return }
    group.wait()
    if let error = failure.withLock(\.self) { throw error }
  }
}
