internal import CProcess
internal import Glibc

/// Whether SIGTERM or SIGINT is pending while both are blocked, without taking it (signalfd(2)).
public final class PendingTermination: Sendable {
  /// Readable while one of the signals is pending.
  public let descriptor: Int32

  /// Opens the descriptor; nil if there are no descriptors left.
  ///
  /// Signals that the process ignores are not included.
  public init?() {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in [SIGTERM, SIGINT] where !ProcessSignals.isIgnored(number) { unsafe sigaddset(&set, number) }
    descriptor = unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Ends the process with status 0, as the signal requests, without cleanup by other threads.
  public func exit() -> Never { _exit(0) }
}
