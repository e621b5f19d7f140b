#if SANITIZE
  public import Glibc
#else
  public import Synchronization
#endif

/// A value protected by a mutual-exclusion lock; the only lock type of this package.
///
/// It is `Synchronization.Mutex`, except in sanitizer builds (`SANITIZE=1`), where it is a pthread mutex, because
/// ThreadSanitizer reports false races on `Mutex` (it does not see its futex).
public struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
  #if SANITIZE
    @usableFromInline let box: Box

    /// The pthread mutex must not move in memory, hence the class.
    @safe @usableFromInline final class Box: @unchecked Sendable {
      @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
      @usableFromInline var value: Value

      init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        self.value = value
        unsafe pthread_mutex_init(mutex, nil)
      }

      deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
      }
    }
  #else
    @usableFromInline let mutex: Mutex<Value>
  #endif

  /// Creates a lock that protects `value`.
  public init(_ value: consuming sending Value) {
    #if SANITIZE
      box = Box(value)
    #else
      mutex = Mutex(value)
    #endif
  }

  /// Runs `body` with exclusive access to the value.
  ///
  /// The lock is not recursive: acquiring it again inside `body` deadlocks. Do not call foreign code inside `body`.
  @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if SANITIZE
      unsafe pthread_mutex_lock(box.mutex)
      defer { unsafe pthread_mutex_unlock(box.mutex) }
      return try body(&box.value)
    #else
      return try mutex.withLock(body)
    #endif
  }
}
