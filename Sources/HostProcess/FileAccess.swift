internal import Glibc

/// What the mode of a file permits all users of the machine (stat(2)).
public struct FileAccess: OptionSet, Sendable {
  /// The bits of the mode for others.
  public let rawValue: UInt32

  /// Creates a set from the bits of a mode.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// They may read it.
  public static let read = FileAccess(rawValue: 0o4)
  /// They may write it.
  public static let write = FileAccess(rawValue: 0o2)

  /// What others may do with a file; nothing if that is not known.
  public static func ofOthers(_ path: String) -> FileAccess {
    var status = stat()
    // A file without a name is not reached by others: standard input may be one.
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 0 else { return [] }
    return FileAccess(rawValue: UInt32(status.st_mode)).intersection([.read, .write])
  }
}
