internal import Glibc

/// The lock file of a data directory, which is open and locked, and how it and the directory are locked.
struct DataDirectoryLock {
  let descriptor: Int32
  let isNew: Bool
  /// Whether the file system is read-only, or nothing may be written.
  let isReadOnly: Bool

  /// Creates a directory if it does not exist, and locks it; nil when another process has.
  static func directory(_ path: String) throws(DatabaseFileError) -> Int32? {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw DatabaseFileError("mkdir", path) }
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    return try locked(descriptor, path)
  }

  /// Creates the lock file if it does not exist, and locks it; nil when another process has.
  static func file(in directory: String) throws(DatabaseFileError) -> DataDirectoryLock? {
    let path = "\(directory)/\(DataDirectory.lockName)"
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    var descriptor = unsafe open(path, flags | O_EXCL, mode_t(0o600))
    let isNew = descriptor >= 0
    if !isNew, errno == EEXIST { descriptor = unsafe open(path, flags, mode_t(0o600)) }
    let isReadOnly = descriptor < 0 && errno == EROFS
    // After an error of the disk, the kernel may mount a file system again for reading only.
    if isReadOnly { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 || !isReadOnly else { throw DatabaseFileError(operation: "open", path: path, errno: EROFS) }
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    return try locked(descriptor, path).map { DataDirectoryLock(descriptor: $0, isNew: isNew, isReadOnly: isReadOnly) }
  }

  /// Locks the lock file for a process that writes nothing; nil when another process has.
  ///
  /// Without a lock file there is nothing to lock: the descriptor is -1 then.
  static func existingFile(in directory: String) throws(DatabaseFileError) -> DataDirectoryLock? {
    let path = "\(directory)/\(DataDirectory.lockName)"
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0, errno == ENOENT { return DataDirectoryLock(descriptor: -1, isNew: false, isReadOnly: true) }
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    return try locked(descriptor, path).map { DataDirectoryLock(descriptor: $0, isNew: false, isReadOnly: true) }
  }

  /// The descriptor after it was locked; nil, and closed, when another process has the lock.
  private static func locked(_ descriptor: Int32, _ path: String) throws(DatabaseFileError) -> Int32? {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    let code = errno
    close(descriptor)
    if code == EWOULDBLOCK { return nil }
    throw DatabaseFileError(operation: "flock", path: path, errno: code)
  }

  /// Whether a path leads to the file that a descriptor has open; true if that cannot be determined.
  static func leads(_ path: String, to descriptor: Int32) -> Bool {
    var (found, known) = (stat(), stat())
    guard unsafe fstat(descriptor, &known) == 0 else { return true }
    guard unsafe stat(path, &found) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    return found.st_dev == known.st_dev && found.st_ino == known.st_ino
  }
}
