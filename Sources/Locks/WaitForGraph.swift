package import Glibc

/// Records which thread waits for which other thread to return from a call of foreign code.
///
/// Two listeners may cancel each other from inside their callbacks, or stop each other's monitors; more listeners may
/// form a cycle. Each would wait for a call that cannot return before its own. A thread that would close such a cycle
/// does not wait. There is one table per process, because listeners of different monitors can wait for each other.
package enum WaitForGraph {
  private static let waits = Locked<[pthread_t: pthread_t]>([:])

  /// Records that one thread is about to wait for another.
  ///
  /// - Returns: false when the other thread already waits for the first one, directly or through others; nothing is
  ///   recorded then.
  package static func begin(_ thread: pthread_t, for other: pthread_t) -> Bool {
    waits.withLock { waits in
      var next: pthread_t? = other
      // A cycle is never recorded, so the loop terminates.
      while let current = next {
        if current == thread { return false }
        next = waits[current]
      }
      waits[thread] = other
      return true
    }
  }

  /// Removes a thread's entry when the call that it waits for has returned.
  ///
  /// The thread that was waited for calls this before it wakes the waiting thread. Whatever it waits for next cannot be
  /// part of a cycle with that thread.
  package static func end(_ thread: pthread_t) { waits.withLock { $0[thread] = nil } }
}
