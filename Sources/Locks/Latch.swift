internal import Glibc

/// Blocks threads until it is opened, which happens once.
///
/// `pthread_join` may be called only once for a thread; any number of threads may wait for a latch. A wait with a time limit
/// measures CLOCK_MONOTONIC: that of a `DispatchSemaphore` ends early, or a day late, when the time of day is set, because it
/// is sem_timedwait(3).
@safe package final class Latch: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isOpen = false

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Releases all threads that wait now or later.
  package func open() {
    unsafe pthread_mutex_lock(mutex)
    isOpen = true
    unsafe pthread_cond_broadcast(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Waits until the latch is open.
  package func wait() {
    unsafe pthread_mutex_lock(mutex)
    while !isOpen { unsafe pthread_cond_wait(condition, mutex) }
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Waits until the latch is open, but not longer than a time limit.
  ///
  /// - Parameter timeLimit: the longest wait; a wait of more than a day ends after a day.
  /// - Returns: whether the latch is open.
  package func wait(atMost timeLimit: Duration) -> Bool {
    let (seconds, attoseconds) = min(max(timeLimit, .zero), .seconds(86_400)).components
    var deadline = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
    deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while !isOpen, unsafe pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT {}
    return isOpen
  }
}
