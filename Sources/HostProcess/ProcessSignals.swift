internal import Glibc

/// Dispositions of the signals that no service group handles.
public enum ProcessSignals {
  /// Ignores SIGPIPE: a write to a pipe or socket without a reader fails with EPIPE instead of ending the process.
  public static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }

  /// Ignores SIGCHLD, so that the kernel reaps children (wait(2)).
  ///
  /// The first process of a container inherits all orphans. This process needs no exit status of children of its own.
  public static func reapOrphans() {
    signal(SIGCHLD, SIG_IGN)
  }

  /// Makes SIGTERM and SIGINT exit with status 0 immediately, until ``blockTermination()``; blocks SIGHUP.
  ///
  /// Use it while nothing needs to be released and a read may block forever, as of a configuration file that is a pipe.
  /// Without it, the first process of a container ignores a SIGTERM that arrives before its handler exists.
  public static func exitOnTermination() {
    mask(SIG_BLOCK, [SIGHUP])
    // Background jobs of a shell ignore SIGINT.
    for number in [SIGTERM, SIGINT] where !isIgnored(number) { signal(number) { _ in _exit(0) } }
    // The parent process may have blocked them, and the signal mask is inherited.
    mask(SIG_UNBLOCK, [SIGTERM, SIGINT])
  }

  /// Makes the signals that end a process by default end this one, too, if it is the first process of a container: the kernel
  /// ignores them for a process without a handler whose id is 1 (pid_namespaces(7)).
  ///
  /// The exit status is the one that a shell reports for the signal.
  public static func exitAsFirstProcess() {
    guard getpid() == 1 else { return }
    for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] where !isIgnored(number) { signal(number) { _exit(128 + $0) } }
    mask(SIG_UNBLOCK, [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
  }

  /// Blocks SIGTERM, SIGINT and SIGHUP, so that they stay pending until signalfd(2) reads them.
  ///
  /// Call it while the process has one thread: new threads inherit the mask.
  public static func blockTermination() {
    mask(SIG_BLOCK, [SIGTERM, SIGINT, SIGHUP])
    for number in [SIGTERM, SIGINT] where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  /// Whether this process ignores a signal, as its parent may have set.
  static func isIgnored(_ number: Int32) -> Bool {
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
