internal import CSQLite
internal import Glibc

/// What a name in a data directory leads to.
public enum DataFileStatus: Hashable, Sendable {
  /// There is no such file.
  case missing
  /// A file, with a text that identifies it among the file systems of this machine.
  case found(identity: String)
  /// It cannot be determined, as without the permission to search the directory.
  case unknown
}

extension DataDirectory {
  /// Returns what a name leads to.
  public func status(of name: String) -> DataFileStatus {
    var status = stat()
    if unsafe stat("\(path)/\(name)", &status) == 0 { return .found(identity: "\(status.st_dev)-\(status.st_ino)") }
    return errno == ENOENT || errno == ENOTDIR ? .missing : .unknown
  }

  /// A text that identifies a file among the file systems of this machine; nil if there is none.
  public func identity(of name: String) -> String? {
    guard case .found(let identity) = status(of: name) else { return nil }
    return identity
  }

  /// When a file was created, in nanoseconds since 1970: a file that takes the place of a deleted one often has its inode
  /// number; nil if there is no file, and on file systems without this time.
  public func birthTime(of name: String) -> Int64? {
    let time = unsafe CSQLite_birth_time(AT_FDCWD, "\(path)/\(name)")
    return time == 0 ? nil : time
  }
}
