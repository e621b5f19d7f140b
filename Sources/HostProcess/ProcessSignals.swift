internal import Glibc

/// What this process does with signals that no service group handles.
public enum ProcessSignals {
  /// A write to a pipe or socket whose reader is gone fails with EPIPE instead of ending the process.
  public static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }

  /// Children are reaped by the kernel (SIGCHLD ignored, wait(2)).
  ///
  /// The first process of a container inherits the orphans of all others; it has no children of its own to wait for.
  public static func reapOrphans() {
    signal(SIGCHLD, SIG_IGN)
  }

  /// SIGTERM, SIGINT and SIGHUP wait until somebody takes them (signalfd(2)), also those that come before.
  ///
  /// Without that, the first process of a container would lose a SIGTERM that comes before its handler. Call it while
  /// there is only one thread: threads inherit it.
  public static func holdRequests() {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }
}
