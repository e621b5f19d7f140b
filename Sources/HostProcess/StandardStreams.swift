internal import Glibc

/// The descriptors 0, 1 and 2 of this process (stdin(3)).
public enum StandardStreams {
  /// Opens `/dev/null` for those that were closed when the program was started.
  ///
  /// Else the next file that is opened would get the number, and what is meant for standard error would be written into
  /// a socket. Standard output cannot be written to even so: who prints a result that nobody gets must know. Call it first
  /// of all.
  public static func fill() {
    for stream in 0...2 as ClosedRange<Int32> where fcntl(stream, F_GETFD) < 0 {
      // The lowest free number is given out, and those below are taken.
      _ = unsafe open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes all of it (write(2)), also where whoever shares the description has made it non-blocking.
  ///
  /// - Parameters:
  ///   - bytes: what to write.
  ///   - descriptor: where to; a full pipe is waited for.
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

  /// Ends this process by SIGPIPE once nobody can read its standard output any more.
  ///
  /// For a program that writes rarely: it would notice only by the next write. A file has no reader and is never lost.
  public static func exitWhenOutputCloses() {
    var thread = pthread_t()
    guard unsafe pthread_create(&thread, nil, { _ in unsafe StandardStreams.waitForOutputClose() }, nil) == 0 else {
      return
    }
    pthread_detach(thread)
  }

  private static func waitForOutputClose() -> UnsafeMutableRawPointer? {
    // No event is asked for: the kernel tells of errors and hang-ups by itself (poll(2)).
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
