internal import Glibc

/// A system call that an event loop needs has failed, in most cases because a limit of the process is reached.
public struct EventLoopError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call, such as `epoll_create1`.
  public let operation: String
  /// The error number of the call (errno(3)).
  public let errno: Int32

  /// Makes an error from a call and its error number.
  public init(operation: String, errno: Int32) {
    self.operation = operation
    self.errno = errno
  }

  /// The call and the system's text for the error, such as `eventfd: Too many open files`.
  public var description: String {
    // glibc's strerror is thread-safe since 2.32.
    "\(operation): \(unsafe String(cString: strerror(errno)))"
  }
}
