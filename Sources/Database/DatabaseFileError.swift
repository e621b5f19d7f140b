internal import Glibc

/// A system call on a file or directory has failed.
public struct DatabaseFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call: `open`, `mkdir`, `fdatasync`.
  public let operation: String
  /// The path.
  public let path: String
  /// The error number (errno(3)).
  public let errno: Int32
  /// What the path links to, if it is a symbolic link: a file of a data directory must not be one.
  public let linkTarget: String?

  /// Makes an error from its parts.
  public init(operation: String, path: String, errno: Int32) {
    self.operation = operation
    self.path = path
    self.errno = errno
    linkTarget = Self.linkTarget(of: path)
  }

  init(_ operation: String, _ path: String) {
    self.init(operation: operation, path: path, errno: Glibc.errno)
  }

  /// Whether the disk has failed or is full, rather than the path being unusable (EIO, ENOSPC, EDQUOT).
  public var isDiskFailure: Bool { [EIO, ENOSPC, EDQUOT].contains(errno) }

  /// The path, the call and the system's text: `/data: mkdir: Permission denied`.
  public var description: String {
    let link = linkTarget.map { " (it is a symbolic link to \($0))" } ?? ""
    return "\(path): \(operation): \(unsafe String(cString: strerror(errno)))\(link)"
  }

  /// What a symbolic link points to; nil for anything else (readlink(2)).
  static func linkTarget(of path: String) -> String? {
    let length = Int(PATH_MAX)
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: length) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = unsafe readlink(path, start, length)
      guard count >= 0 else { return nil }
      return unsafe String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }
}
