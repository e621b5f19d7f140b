internal import Glibc

/// A small file beside the database of a data directory, with mode 0600.
///
/// Symbolic links are not followed, and what is not a regular file with one name is never written.
public struct DataDirectoryFile: Sendable {
  /// The path.
  public let path: String

  /// Names a file, which need not exist.
  public init(_ name: String, in directory: String) { path = "\(directory)/\(name)" }

  /// The size of the file in bytes; 0 if there is no such regular file.
  public var size: Int {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
    return Int(status.st_size)
  }

  /// Whether there is an entry with the name, of any type.
  public var exists: Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// Sets the size of the file, which is created if it does not exist; no space on the disk is needed for the content.
  ///
  /// An entry that is no such file, as a symbolic link, is removed first; a directory is an error.
  ///
  /// - Throws: the failed system call.
  public func resize(to size: Int) throws(DatabaseFileError) {
    let descriptor = try open(O_RDWR | O_CREAT)
    defer { close(descriptor) }
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw DatabaseFileError("ftruncate", path) }
  }

  /// Adds a text to the end of the file, which is created if it does not exist, and synchronizes it with the disk.
  ///
  /// - Throws: the failed system call; nothing or a part of the text may have been added.
  public func append(_ text: String) throws(DatabaseFileError) {
    let descriptor = try open(O_RDWR | O_CREAT | O_APPEND)
    defer { close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw DatabaseFileError("write", path) }
      rest = rest.dropFirst(count)
    }
    guard fdatasync(descriptor) == 0 else { throw DatabaseFileError("fdatasync", path) }
  }

  /// Reads the end of the file.
  ///
  /// - Parameter limit: the largest number of bytes that are read.
  /// - Returns: the text; nil if there is no such file.
  /// - Throws: the failed system call.
  public func text(atMost limit: Int) throws(DatabaseFileError) -> String? {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw DatabaseFileError("open", path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw DatabaseFileError("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DatabaseFileError(operation: "open", path: path, errno: EINVAL)
    }
    var bytes = [UInt8](repeating: 0, count: limit)
    let start = max(0, status.st_size - off_t(limit))
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, start) }
    guard count >= 0 else { throw DatabaseFileError("pread", path) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Removes the file, if it exists.
  ///
  /// - Throws: the failed system call.
  public func remove() throws(DatabaseFileError) {
    guard unsafe unlink(path) != 0, errno != ENOENT else { return }
    throw DatabaseFileError("unlink", path)
  }

  /// Opens the file for writing; a second attempt follows the removal of an entry that must not be written.
  private func open(_ flags: Int32) throws(DatabaseFileError) -> Int32 {
    for isLast in [false, true] {
      let descriptor = unsafe Glibc.open(
        path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode_t(0o600))
      guard descriptor >= 0 else {
        // ELOOP is a symbolic link, and ENXIO a socket.
        guard !isLast, errno == ELOOP || errno == ENXIO else { throw DatabaseFileError("open", path) }
        try remove()
        continue
      }
      var status = stat()
      if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 {
        return descriptor
      }
      close(descriptor)
      guard !isLast else { break }
      try remove()
    }
    throw DatabaseFileError(operation: "open", path: path, errno: EEXIST)
  }
}
