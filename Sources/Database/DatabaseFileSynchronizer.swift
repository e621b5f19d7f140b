internal import Glibc

/// A file whose content another part of the process writes, and that this descriptor synchronizes with the disk.
@safe public final class DatabaseFileSynchronizer: Sendable {
  private let path: String
  private let descriptor: Int32

  /// Opens a file.
  ///
  /// Not for an SQLite database file itself: closing any descriptor of it drops SQLite's locks. SQLite does not lock its
  /// write-ahead log.
  ///
  /// - Throws: the failed system call.
  public init(_ path: String) throws(DatabaseFileError) {
    self.path = path
    descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Writes the file's content to the disk (fdatasync(2)).
  ///
  /// - Throws: the failed system call. A repeated call may succeed although content is lost.
  public func synchronize() throws(DatabaseFileError) {
    guard fdatasync(descriptor) == 0 else { throw DatabaseFileError("fdatasync", path) }
  }
}
