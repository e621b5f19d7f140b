internal import Glibc

/// A directory that one process uses, with files that only its owner may read.
@safe public final class DataDirectory: Sendable {
  /// The path without symbolic links.
  public let path: String
  /// Whether the file system was read-only when the directory was locked, which had been used before.
  public let isReadOnly: Bool
  /// The lock file, whose lock ends with the process.
  private let lock: Int32

  /// Opens a directory, creates it with mode 0700 if it does not exist, and locks it; nil when another process has.
  ///
  /// The directory may be behind symbolic links: systemd's `DynamicUser=` makes a link of each state directory. They are
  /// resolved only here, because SQLite and `O_NOFOLLOW` refuse links, and because the files of one process stay in one
  /// directory, even if a link is changed.
  ///
  /// - Parameter location: the path; its parent must exist.
  /// - Throws: the failed system call.
  public init?(locking location: String) throws(DatabaseFileError) {
    if unsafe mkdir(location, 0o700) != 0, errno != EEXIST { throw DatabaseFileError("mkdir", location) }
    let path = try Self.resolved(location)
    let lockPath = path + "/lock"
    var descriptor = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
    isReadOnly = descriptor < 0 && errno == EROFS
    // After an error of the disk, the kernel may mount a file system again for reading only.
    if isReadOnly { descriptor = unsafe open(lockPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 || !isReadOnly else {
      throw DatabaseFileError(operation: "open", path: lockPath, errno: EROFS)
    }
    guard descriptor >= 0 else { throw DatabaseFileError("open", errno == ENOTDIR ? path : lockPath) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw DatabaseFileError(operation: "flock", path: lockPath, errno: code)
    }
    self.path = path
    lock = descriptor
  }

  /// The absolute path without symbolic links (realpath(3)).
  private static func resolved(_ path: String) throws(DatabaseFileError) -> String {
    guard let real = unsafe realpath(path, nil) else { throw DatabaseFileError("realpath", path) }
    defer { unsafe free(real) }
    guard let text = unsafe String(validatingCString: real) else {
      throw DatabaseFileError(operation: "realpath", path: path, errno: EILSEQ)
    }
    return text
  }

  /// Whether there is a directory at a path.
  public static func exists(at path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  deinit { close(lock) }

  /// Releases the lock before the end of the process.
  public func unlock() { flock(lock, LOCK_UN) }

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

  /// A text that identifies a file among the file systems of this machine; nil if there is none.
  public func identity(of name: String) -> String? {
    var status = stat()
    guard unsafe stat("\(path)/\(name)", &status) == 0 else { return nil }
    return "\(status.st_dev)-\(status.st_ino)"
  }
}
