internal import Glibc

/// Writes files that only their owner may read.
public enum PrivateFile {
  /// A file could not be created or written.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// The file's path.
    public let path: String
    /// What is wrong, and what would be right.
    public let reason: String

    /// The path and the reason.
    public var description: String { "\(path): \(reason)" }
  }

  /// Creates a file with mode 0600 and writes a text to it; removes the file if that fails.
  ///
  /// The mode applies from creation on (open(2), O_CREAT | O_EXCL), regardless of the umask.
  ///
  /// - Parameters:
  ///   - path: the file; nothing may exist there, not even a symbolic link.
  ///   - text: its content.
  /// - Throws: the system's error message, or that the path exists.
  public static func create(_ path: String, _ text: String) throws(Failure) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard descriptor >= 0 else {
      guard errno != EEXIST else {
        throw Failure(path: path, reason: "the file exists; remove it, or name another one")
      }
      throw failure(path)
    }
    do throws(Failure) {
      defer { close(descriptor) }
      // The umask may have cleared permission bits.
      guard fchmod(descriptor, 0o600) == 0 else { throw failure(path) }
      try write(Array(text.utf8), to: descriptor, path)
      guard fsync(descriptor) == 0 else { throw failure(path) }
    } catch {
      unsafe unlink(path)
      throw error
    }
  }

  /// Removes a file created by ``create(_:_:)``.
  public static func remove(_ path: String) { unsafe unlink(path) }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure(path)
      }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ path: String) -> Failure {
    let code = errno
    return Failure(path: path, reason: unsafe String(cString: strerror(code)))
  }
}
