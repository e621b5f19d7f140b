internal import Glibc

/// A system call on a file or directory has failed.
public struct DatabaseFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call: `open`, `mkdir`, `fdatasync`.
  public let operation: String
  /// The path.
  public let path: String
  /// The error number (errno(3)).
  public let errno: Int32

  /// Makes an error from its parts.
  public init(operation: String, path: String, errno: Int32) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  init(_ operation: String, _ path: String) {
    self.init(operation: operation, path: path, errno: Glibc.errno)
  }

  /// Whether the disk has failed or is full, rather than the path being unusable (EIO, ENOSPC, EDQUOT).
  public var isDiskFailure: Bool { [EIO, ENOSPC, EDQUOT].contains(errno) }

  /// The path, the call and the system's text: `/data: mkdir: Permission denied`.
  public var description: String { "\(path): \(operation): \(unsafe String(cString: strerror(errno)))" }
}
