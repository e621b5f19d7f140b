internal import Glibc

/// The descriptors 0, 1 and 2 of this process (stdin(3)).
public enum StandardStreams {
  /// Opens `/dev/null` for the standard descriptors that were closed when the program was started.
  ///
  /// Otherwise the next file that is opened would get the number, and messages for standard error would be written into
  /// a socket. Standard output is opened read-only, so that writing a result that no process receives fails. Call this
  /// before anything else is opened.
  public static func fill() {
    for stream in 0...2 as ClosedRange<Int32> where fcntl(stream, F_GETFD) < 0 {
      // open(2) returns the lowest free number, and all lower ones are open.
      _ = unsafe open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes all bytes (write(2)), even when another process has made the shared open file description non-blocking.
  ///
  /// - Parameters:
  ///   - bytes: the bytes to write.
  ///   - descriptor: the destination; if it is a full pipe, the call waits.
  /// - Returns: 0, or the errno.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var stream = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&stream, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Raises SIGPIPE when the reader of standard output closes it.
  ///
  /// For a program that writes rarely and would notice only at its next write. A regular file has no reader, so this
  /// never happens for one.
  public static func exitWhenOutputCloses() {
    var thread = pthread_t()
    guard unsafe pthread_create(&thread, nil, { _ in unsafe StandardStreams.waitForOutputClose() }, nil) == 0 else {
      return
    }
    pthread_detach(thread)
  }

  private static func waitForOutputClose() -> UnsafeMutableRawPointer? {
    // No event is requested: poll(2) always reports errors and hang-ups.
    var output = pollfd(fd: 1, events: 0, revents: 0)
    while true {
      let count = unsafe poll(&output, 1, -1)
      if count < 0, errno != EINTR { return nil }
      if count > 0 { break }
    }
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGPIPE)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    return nil
  }
}
