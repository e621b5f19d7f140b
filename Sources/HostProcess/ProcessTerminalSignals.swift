internal import CProcess
internal import Glibc

/// The signals of a program that draws on a terminal, which must restore it before they take effect.
public enum ProcessTerminalSignals {
  /// What a signal asks for.
  public enum Request: Sendable, Equatable {
    /// The end of the process, by this signal.
    case end(Int32)
    /// A stop until SIGCONT (Control-Z).
    case stop
    /// A new drawing: the size of the terminal changed, or the process continues after a stop.
    case redraw
  }

  private static let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private static let all = ends + [SIGTSTP, SIGCONT, SIGWINCH]

  /// Blocks the signals, so that they stay pending until ``descriptor()`` is read.
  ///
  /// Call it while the process has one thread: new threads inherit the mask.
  public static func block() { mask(SIG_BLOCK, all) }

  /// Lets the signals have their usual effect, for a command that draws nothing.
  public static func unblock() { mask(SIG_UNBLOCK, all) }

  /// Returns a descriptor that is readable while a signal is pending (signalfd(2)); nil if there are no descriptors left.
  public static func descriptor() -> Int32? {
    var set = signals(all)
    let descriptor = unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    return descriptor < 0 ? nil : descriptor
  }

  /// Takes the next signal from the descriptor; nil if none is pending.
  public static func next(from descriptor: Int32) -> Request? {
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard unsafe read(descriptor, &info, size) == size else { return nil }
    let number = Int32(bitPattern: info.ssi_signo)
    if ends.contains(number) { return .end(number) }
    return number == SIGTSTP ? .stop : .redraw
  }

  /// Stops the process as SIGTSTP does by default; returns when it continues.
  public static func stop() {
    mask(SIG_UNBLOCK, [SIGTSTP])
    raise(SIGTSTP)
    mask(SIG_BLOCK, [SIGTSTP])
  }

  /// Ends the process by a signal, so that its parent process sees the cause.
  public static func end(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    mask(SIG_UNBLOCK, [number])
    raise(number)
    // An ignored signal, or the first process of a PID namespace.
    _exit(128 + number)
  }

  private static func signals(_ numbers: [Int32]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { unsafe sigaddset(&set, number) }
    return set
  }

  private static func mask(_ how: Int32, _ numbers: [Int32]) {
    var set = signals(numbers)
    unsafe pthread_sigmask(how, &set, nil)
  }
}
