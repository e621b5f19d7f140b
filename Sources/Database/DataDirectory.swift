internal import CSQLite
internal import Glibc

/// A directory that one process uses, with files that only its owner may read.
///
/// The directory is locked, and a file in it, `lock`: a second process is refused although one of them was deleted. The
/// locks end with the process.
@safe public final class DataDirectory: Sendable {
  /// The name of the lock file.
  public static let lockName = "lock"
  /// The bytes of the lock file that are read and written: less than a sector, which a disk writes as a whole.
  public static let recordBytes = 128

  /// The path without symbolic links.
  public let path: String
  /// The descriptors keep their numbers when they are opened again.
  private let directory: Int32
  private let lock: DataDirectoryLock

  /// Opens a directory, creates it with mode 0700 if it does not exist, and locks it; nil when another process has.
  ///
  /// The directory may be behind symbolic links: systemd's `DynamicUser=` makes a link of each state directory. They are
  /// resolved only here, because SQLite and `O_NOFOLLOW` refuse links, and because the files of one process stay in one
  /// directory, even if a link is changed.
  ///
  /// - Parameter location: the path; its parent must exist.
  /// - Throws: the failed system call.
  public convenience init?(locking location: String) throws(DatabaseFileError) {
    if unsafe mkdir(location, 0o700) != 0, errno != EEXIST { throw DatabaseFileError("mkdir", location) }
    try self.init(location, lock: DataDirectoryLock.file)
  }

  /// Opens a directory and locks it without changing anything in it, as on a read-only file system; nil when another process
  /// has it.
  ///
  /// - Parameter location: the path of a directory; one that a service has not used has no lock file.
  /// - Throws: the failed system call.
  public convenience init?(reading location: String) throws(DatabaseFileError) {
    try self.init(location, lock: DataDirectoryLock.existingFile)
  }

  private init?(
    _ location: String, lock open: (_ directory: String) throws(DatabaseFileError) -> DataDirectoryLock?
  ) throws(DatabaseFileError) {
    path = try Self.resolved(location)
    guard let directory = try DataDirectoryLock.directory(path) else { return nil }
    do throws(DatabaseFileError) {
      guard let lock = try open(path) else {
        close(directory)
        return nil
      }
      self.directory = directory
      self.lock = lock
    } catch {
      close(directory)
      throw error
    }
  }

  deinit {
    close(lock.descriptor)
    close(directory)
  }

  private var lockPath: String { "\(path)/\(Self.lockName)" }

  /// The absolute path without symbolic links (realpath(3)).
  private static func resolved(_ path: String) throws(DatabaseFileError) -> String {
    guard let real = unsafe realpath(path, nil) else { throw DatabaseFileError("realpath", path) }
    defer { unsafe free(real) }
    guard let text = unsafe String(validatingCString: real) else {
      throw DatabaseFileError(operation: "realpath", path: path, errno: EILSEQ)
    }
    return text
  }

  /// Whether the file system was read-only when the directory was locked, which had been used before.
  public var isReadOnly: Bool { lock.isReadOnly }

  /// Whether the lock file was created when the directory was opened.
  public var hasNewLock: Bool { lock.isNew }

  /// Releases the locks before the end of the process.
  public func unlock() {
    flock(lock.descriptor, LOCK_UN)
    flock(directory, LOCK_UN)
  }

  // MARK: - Removed and replaced files

  /// Whether the path leads to the directory and to the lock file that this object has locked; true if that cannot be
  /// determined, as without the permission to search a directory of the path.
  public var isInPlace: Bool {
    DataDirectoryLock.leads(path, to: directory) && DataDirectoryLock.leads(lockPath, to: lock.descriptor)
  }

  /// Locks what the path leads to now, and creates what is missing; afterwards the directory that was locked before is not.
  ///
  /// - Returns: false when another process has locked it; then the locks are as before.
  /// - Throws: the failed system call; then the locks are as before.
  public func relock() throws(DatabaseFileError) -> Bool {
    let isReplaced = !DataDirectoryLock.leads(path, to: directory)
    guard isReplaced || !DataDirectoryLock.leads(lockPath, to: lock.descriptor) else { return true }
    // A second descriptor of a directory that is locked already would be refused.
    let newDirectory = isReplaced ? try DataDirectoryLock.directory(path) : directory
    guard let newDirectory else { return false }
    defer { if isReplaced { close(newDirectory) } }
    guard let newLock = try DataDirectoryLock.file(in: path) else { return false }
    defer { close(newLock.descriptor) }
    if isReplaced, CSQLite_replace_descriptor(newDirectory, directory, O_CLOEXEC) < 0 {
      throw DatabaseFileError("dup3", path)
    }
    if CSQLite_replace_descriptor(newLock.descriptor, lock.descriptor, O_CLOEXEC) < 0 {
      throw DatabaseFileError("dup3", lockPath)
    }
    return true
  }

  // MARK: - Record

  /// The first bytes of the lock file; empty if they cannot be read.
  public var record: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.recordBytes)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(lock.descriptor, $0.baseAddress, $0.count, 0) }
    return Array(bytes.prefix(max(0, count)))
  }

  /// Replaces the first bytes of the lock file, at most ``recordBytes``.
  ///
  /// - Throws: the failed system call.
  public func write(record: [UInt8]) throws(DatabaseFileError) {
    let bytes = record.prefix(Self.recordBytes)
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(lock.descriptor, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else {
      throw DatabaseFileError(operation: "pwrite", path: lockPath, errno: count < 0 ? errno : ENOSPC)
    }
  }

  /// Writes the lock file to the disk (fdatasync(2)).
  ///
  /// - Throws: the failed system call.
  public func synchronizeRecord() throws(DatabaseFileError) {
    guard fdatasync(lock.descriptor) == 0 else { throw DatabaseFileError("fdatasync", lockPath) }
  }
}
