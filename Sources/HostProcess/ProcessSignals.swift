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

  /// Until ``blockTermination()``, SIGTERM and SIGINT end this process at once, with 0; SIGHUP waits.
  ///
  /// For the time in which there is nothing to give back, and something to wait for that may never come: a file that is a
  /// pipe. Without that, the first process of a container would lose a SIGTERM that comes before its handler.
  public static func exitOnTermination() {
    mask(SIG_BLOCK, [SIGHUP])
    // A shell's background jobs ignore SIGINT.
    for number in [SIGTERM, SIGINT] where !isIgnored(number) { signal(number) { _ in _exit(0) } }
    // Whoever started it may have blocked them, and so for us.
    mask(SIG_UNBLOCK, [SIGTERM, SIGINT])
  }

  /// SIGTERM, SIGINT and SIGHUP wait until somebody takes them (signalfd(2)), also those that come before.
  ///
  /// Call it while there is only one thread: threads inherit it.
  public static func blockTermination() {
    mask(SIG_BLOCK, [SIGTERM, SIGINT, SIGHUP])
    for number in [SIGTERM, SIGINT] where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static func mask(_ how: Int32, _ numbers: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(how, &set, nil)
  }
}
