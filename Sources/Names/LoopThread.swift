internal import CAres
internal import Glibc

/// A thread that runs a loop: the one for names, and that of the checks.
package struct LoopThread: Sendable {
  /// What runs on it: takes the context, returns nothing that anybody looks at.
  package typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

  private let thread: pthread_t

  /// Starts a thread called `name`; if it throws, `context` is still the caller's.
  ///
  /// Signals are the main thread's; SIGPIPE, too, which a peer that resets a connection would raise. Those that a fault
  /// raises stay open, so that crash reporters see them.
  package init(_ name: String, _ context: UnsafeMutableRawPointer, _ body: Body) throws(ResolutionFailure) {
    var blocked = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { unsafe sigdelset(&blocked, fault) }
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, body, context)
    guard code == 0 else { throw .serverFailure("pthread_create: \(unsafe String(cString: strerror(code)))") }
    unsafe cares_name_thread(thread, name)
    self.thread = thread
  }

  /// Waits until it has ended; on the thread itself, only lets go of it.
  package func join() {
    // A completion may hold the last reference to whose thread it is: a thread cannot join itself.
    if pthread_equal(thread, pthread_self()) != 0 {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }
}
