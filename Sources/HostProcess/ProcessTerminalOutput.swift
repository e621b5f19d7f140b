internal import Glibc

/// Writes to a terminal without waiting for its reader.
///
/// write(2) waits while the terminal is not read, and after Control-S. A program that reads its signals from a
/// descriptor would not handle them meanwhile.
public struct ProcessTerminalOutput: ~Copyable {
  /// The descriptor to wait for, until it is writable, while ``isIdle`` is false.
  public let descriptor: Int32
  private var pending: ArraySlice<UInt8> = []

  /// Opens the terminal of a descriptor; nil if there are no descriptors left.
  public init?(of descriptor: Int32) {
    // Opened again, because O_NONBLOCK on the present open file description would apply to the shell, too. The
    // controlling terminal opens as /dev/tty even if its device belongs to another user (su(1)).
    let name = "/proc/self/fd/\(descriptor)"
    for path in tcgetsid(descriptor) >= 0 ? ["/dev/tty", name] : [name] {
      let opened = unsafe open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      guard opened < 0 else {
        self.descriptor = opened
        return
      }
    }
    // A terminal of another user that is not the controlling one: writes wait for its reader.
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return nil }
    self.descriptor = copy
  }

  deinit { close(descriptor) }

  /// Whether everything is written.
  public var isIdle: Bool { pending.isEmpty }

  /// Writes what the terminal accepts now; the rest remains for ``flush()``.
  public mutating func write(_ text: String) {
    pending += text.utf8
    flush()
  }

  /// Continues to write; after a failure, the rest is discarded.
  public mutating func flush() {
    while !pending.isEmpty {
      let count = unsafe pending.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        pending = pending.dropFirst(count)
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        pending = []
      }
    }
  }

  /// Writes a text in place of the rest, and waits at most a time until the terminal accepts it.
  public mutating func finish(_ text: String, within limit: Duration) {
    let deadline = ContinuousClock.now + limit
    pending = ArraySlice(text.utf8)
    flush()
    while !pending.isEmpty {
      let rest = ContinuousClock.now.duration(to: deadline)
      guard rest > .zero else { break }
      var terminal = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&terminal, 1, Int32(clamping: Int64(rest / .milliseconds(1)) + 1))
      flush()
    }
    pending = []
  }
}
