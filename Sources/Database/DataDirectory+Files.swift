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
  /// Whether there is a directory at a path.
  public static func exists(at path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Creates an empty file with mode 0600 unless it exists; SQLite gives its other files the same mode.
  ///
  /// - Throws: the failed system call.
  public func create(_ name: String) throws(DatabaseFileError) {
    let path = path + "/" + name
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
    guard descriptor >= 0 else {
      if errno == EEXIST { return }
      throw DatabaseFileError("open", path)
    }
    // Before SQLite opens it: closing a file that SQLite has open would drop SQLite's locks (POSIX record locks).
    close(descriptor)
  }

  /// Takes the permissions of a file from all users but its owner, if it exists and is a regular file: a copy that was
  /// restored has those of the program that wrote it.
  ///
  /// By its path: closing a descriptor of a file that SQLite has open would drop SQLite's locks.
  ///
  /// - Throws: the failed system call, as when the file belongs to another user.
  public func restrict(_ name: String) throws(DatabaseFileError) {
    let path = path + "/" + name
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else {
      return
    }
    guard unsafe chmod(path, 0o600) == 0 else { throw DatabaseFileError("chmod", path) }
  }

  /// Renames a file, if it exists; the new name replaces a file of that name.
  public func rename(_ name: String, to new: String) throws(DatabaseFileError) {
    guard unsafe Glibc.rename("\(path)/\(name)", "\(path)/\(new)") != 0, errno != ENOENT else { return }
    throw DatabaseFileError("rename", "\(path)/\(name)")
  }

  /// Removes a file, if it exists.
  public func remove(_ name: String) { unsafe unlink("\(path)/\(name)") }

  /// The names of the files.
  public var names: [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// The bytes of a file; 0 if there is none.
  public func size(of name: String) -> Int64 {
    var status = stat()
    return unsafe stat("\(path)/\(name)", &status) == 0 ? Int64(status.st_size) : 0
  }

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

  // MARK: - Renaming several files

  /// Gives files other names, which no other file has; files that do not exist are skipped.
  ///
  /// Each file has both names for a moment. A kill in between loses none: SQLite would delete a write-ahead log whose
  /// database has another name already.
  ///
  /// - Parameters:
  ///   - names: the present and the new names.
  ///   - record: records the renaming; called before a file loses its name, or after it on a file system without hard links.
  /// - Throws: the failed system call, with EEXIST for a name that is in use; some files may have both names then.
  public func rename(
    _ names: [(present: String, new: String)], recording record: () -> Void
  ) throws(DatabaseFileError) {
    let found = names.filter { DataDirectoryFile($0.present, in: path).exists }
    var linked: Set<String> = []
    for (present, new) in found {
      if unsafe link("\(path)/\(present)", "\(path)/\(new)") == 0 {
        linked.insert(present)
      } else if ![EPERM, EOPNOTSUPP, EMLINK, ENOSYS].contains(errno) {
        // Those are of directories, and of file systems without hard links.
        throw DatabaseFileError("link", "\(path)/\(new)")
      }
    }
    if !linked.isEmpty { record() }
    for (present, new) in found {
      guard linked.contains(present) else {
        try renameUnlinked(present, to: new)
        continue
      }
      guard unsafe unlink("\(path)/\(present)") != 0, errno != ENOENT else { continue }
      throw DatabaseFileError("unlink", "\(path)/\(present)")
    }
    if linked.isEmpty, !found.isEmpty { record() }
  }

  private func renameUnlinked(_ name: String, to new: String) throws(DatabaseFileError) {
    // The lock of the directory excludes a file that appears after this.
    guard !DataDirectoryFile(new, in: path).exists else {
      throw DatabaseFileError(operation: "rename", path: "\(path)/\(new)", errno: EEXIST)
    }
    try rename(name, to: new)
  }
}
