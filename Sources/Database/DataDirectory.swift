internal import Glibc

/// A directory that one process uses, with files that only its owner may read.
///
/// The directory is locked, and a file in it, `lock`: a second process is refused although one of them was deleted. The
/// locks end with the process.
@safe public final class DataDirectory: Sendable {
  /// The path without symbolic links.
  public let path: String
  /// Whether the file system was read-only when the directory was locked, which had been used before.
  public let isReadOnly: Bool
  /// Whether the lock file was created when the directory was opened.
  public let hasNewLock: Bool
  /// The descriptors keep their numbers when they are opened again.
  let directory: Int32
  let lock: Int32

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
    guard let directory = try Self.lockDirectory(path) else { return nil }
    let lock: LockFile?
    do throws(DatabaseFileError) {
      lock = try Self.lockFile(in: path)
    } catch {
      close(directory)
      throw error
    }
    guard let lock else {
      close(directory)
      return nil
    }
    self.path = path
    self.directory = directory
    self.lock = lock.descriptor
    hasNewLock = lock.isNew
    isReadOnly = lock.isReadOnly
  }

  /// Opens a directory and locks it without changing anything in it, as on a read-only file system; nil when another process
  /// has it.
  ///
  /// - Parameter location: the path of a directory; one that a service has not used has no lock file.
  /// - Throws: the failed system call.
  public init?(reading location: String) throws(DatabaseFileError) {
    let path = try Self.resolved(location)
    guard let directory = try Self.lockDirectory(path) else { return nil }
    let lock: Int32?
    do throws(DatabaseFileError) {
      lock = try Self.existingLockFile(in: path)
    } catch {
      close(directory)
      throw error
    }
    guard let lock else {
      close(directory)
      return nil
    }
    self.path = path
    self.directory = directory
    self.lock = lock
    hasNewLock = false
    isReadOnly = true
  }

  deinit {
    close(lock)
    close(directory)
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

  /// Releases the locks before the end of the process.
  public func unlock() {
    flock(lock, LOCK_UN)
    flock(directory, LOCK_UN)
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
}
