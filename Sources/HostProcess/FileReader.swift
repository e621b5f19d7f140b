internal import Glibc

/// A file could not be read.
public struct FileReadError: Error, Equatable, CustomStringConvertible {
  /// The file's path.
  public let path: String
  /// The system's error message, or what is wrong with the file.
  public let reason: String

  /// Creates an error about a file.
  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  /// The path and the reason.
  public var description: String { "\(path): \(reason)" }
}

/// Reads whole small files.
public enum FileReader {
  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: the file; `/dev/stdin` and pipes work too.
  ///   - limit: the largest size that is accepted, in bytes.
  ///   - blocking: false to accept only a regular file, so that no read waits for a writer.
  /// - Returns: the contents.
  /// - Throws: the system's error message, or that the file is too large or not a regular file.
  public static func bytes(of path: String, limit: Int, blocking: Bool = true) throws(FileReadError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (blocking ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    if !blocking {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw failure(path) }
      guard status.st_mode & S_IFMT == S_IFREG else { throw FileReadError(path: path, reason: "not a regular file") }
    }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe block.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure(path)
      }
      bytes += block.prefix(count)
      guard bytes.count <= limit else {
        throw FileReadError(path: path, reason: "the file has more than \(limit) bytes")
      }
    }
  }

  private static func failure(_ path: String) -> FileReadError {
    FileReadError(path: path, reason: unsafe String(cString: strerror(errno)))
  }
}
