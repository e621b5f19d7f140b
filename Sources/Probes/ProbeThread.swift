internal import CAres
internal import Glibc

/// Starts the threads of this room.
enum ProbeThread {
  typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

  /// Starts a thread called `name`; if it throws, `context` is still the caller's.
  ///
  /// Signals are the main thread's; SIGPIPE, too, which a peer that resets a connection would raise. Those that a fault
  /// raises stay open, so that crash reporters see them.
  static func start(
    _ name: String, _ context: UnsafeMutableRawPointer, _ body: Body
  ) throws(ResolutionFailure) -> pthread_t {
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
    return thread
  }
}
