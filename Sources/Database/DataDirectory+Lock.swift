internal import CSQLite
internal import Glibc

// The locks, and the record in the lock file.
extension DataDirectory {
  /// The name of the lock file.
  public static let lockName = "lock"
  /// The bytes of the lock file that are read and written: less than a sector, which a disk writes as a whole.
  public static let recordBytes = 128

  private var lockPath: String { "\(path)/\(Self.lockName)" }

  /// Creates a directory if it does not exist, and locks it; nil when another process has.
  static func lockDirectory(_ path: String) throws(DatabaseFileError) -> Int32? {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw DatabaseFileError("mkdir", path) }
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    return try locked(descriptor, path)
  }

  /// A lock file that is open and locked.
  struct LockFile {
    var descriptor: Int32
    var isNew: Bool
    /// Whether the file system is read-only.
    var isReadOnly: Bool
  }

  /// Creates the lock file if it does not exist, and locks it; nil when another process has.
  static func lockFile(in directory: String) throws(DatabaseFileError) -> LockFile? {
    let path = "\(directory)/\(lockName)"
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    var descriptor = unsafe open(path, flags | O_EXCL, mode_t(0o600))
    let isNew = descriptor >= 0
    if !isNew, errno == EEXIST { descriptor = unsafe open(path, flags, mode_t(0o600)) }
    let isReadOnly = descriptor < 0 && errno == EROFS
    // After an error of the disk, the kernel may mount a file system again for reading only.
    if isReadOnly { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 || !isReadOnly else { throw DatabaseFileError(operation: "open", path: path, errno: EROFS) }
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    return try locked(descriptor, path).map { LockFile(descriptor: $0, isNew: isNew, isReadOnly: isReadOnly) }
  }

  /// Locks the lock file for a process that writes nothing; nil when another process has, and -1 if there is none.
  static func existingLockFile(in directory: String) throws(DatabaseFileError) -> Int32? {
    let path = "\(directory)/\(lockName)"
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0, errno == ENOENT { return -1 }
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    return try locked(descriptor, path)
  }

  /// The descriptor after it was locked; nil, and closed, when another process has the lock.
  private static func locked(_ descriptor: Int32, _ path: String) throws(DatabaseFileError) -> Int32? {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    let code = errno
    close(descriptor)
    if code == EWOULDBLOCK { return nil }
    throw DatabaseFileError(operation: "flock", path: path, errno: code)
  }

  // MARK: - Removed and replaced files

  /// Whether the path leads to the directory and to the lock file that this object has locked; true if that cannot be
  /// determined, as without the permission to search a directory of the path.
  public var isInPlace: Bool { Self.leads(path, to: directory) && Self.leads(lockPath, to: lock) }

  private static func leads(_ path: String, to descriptor: Int32) -> Bool {
    var (found, known) = (stat(), stat())
    guard unsafe fstat(descriptor, &known) == 0 else { return true }
    guard unsafe stat(path, &found) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    return found.st_dev == known.st_dev && found.st_ino == known.st_ino
  }

  /// Locks what the path leads to now, and creates what is missing; afterwards the directory that was locked before is not.
  ///
  /// - Returns: false when another process has locked it; then the locks are as before.
  /// - Throws: the failed system call; then the locks are as before.
  public func relock() throws(DatabaseFileError) -> Bool {
    let isReplaced = !Self.leads(path, to: directory)
    guard isReplaced || !Self.leads(lockPath, to: lock) else { return true }
    // A second descriptor of a directory that is locked already would be refused.
    let newDirectory = isReplaced ? try Self.lockDirectory(path) : directory
    guard let newDirectory else { return false }
    defer { if isReplaced { close(newDirectory) } }
    guard let newLock = try Self.lockFile(in: path) else { return false }
    defer { close(newLock.descriptor) }
    if isReplaced, CSQLite_replace_descriptor(newDirectory, directory, O_CLOEXEC) < 0 {
      throw DatabaseFileError("dup3", path)
    }
    if CSQLite_replace_descriptor(newLock.descriptor, lock, O_CLOEXEC) < 0 { throw DatabaseFileError("dup3", lockPath) }
    return true
  }

  // MARK: - Record

  /// The first bytes of the lock file; empty if they cannot be read.
  public var record: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.recordBytes)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(lock, $0.baseAddress, $0.count, 0) }
    return Array(bytes.prefix(max(0, count)))
  }

  /// Replaces the first bytes of the lock file, at most ``recordBytes``.
  ///
  /// - Throws: the failed system call.
  public func write(record: [UInt8]) throws(DatabaseFileError) {
    let bytes = record.prefix(Self.recordBytes)
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(lock, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else {
      throw DatabaseFileError(operation: "pwrite", path: lockPath, errno: count < 0 ? errno : ENOSPC)
    }
  }

  /// Writes the lock file to the disk (fdatasync(2)).
  ///
  /// - Throws: the failed system call.
  public func synchronizeRecord() throws(DatabaseFileError) {
    guard fdatasync(lock) == 0 else { throw DatabaseFileError("fdatasync", lockPath) }
  }
}
