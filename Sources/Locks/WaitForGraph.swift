package import Glibc

/// Which thread waits for a call of foreign code on which other thread to end.
///
/// Two listeners may cancel each other from inside themselves, or stop each other's monitors, or more of them in a circle: each
/// would wait for a call that cannot end before its own. Who would close such a circle does not wait. There is one such table
/// for the process, as there is one set of threads: listeners of different monitors can meet.
package enum WaitForGraph {
  private static let waits = Locked<[pthread_t: pthread_t]>([:])

  /// Notes that one thread is about to wait for another.
  ///
  /// - Returns: false, and nothing is noted, when that one waits for the first already, directly or through others.
  package static func begin(_ thread: pthread_t, for other: pthread_t) -> Bool {
    waits.withLock { waits in
      var next: pthread_t? = other
      // No circle has ever been closed, so this comes to an end.
      while let current = next {
        if current == thread { return false }
        next = waits[current]
      }
      waits[thread] = other
      return true
    }
  }

  /// The call that a thread waited for has ended.
  ///
  /// To be called before the thread is told so, by the one that it waited for: what that one waits for next is no part of a
  /// circle with it.
  package static func end(_ thread: pthread_t) { waits.withLock { $0[thread] = nil } }
}
