internal import Glibc

/// A file could not be read.
public struct FileReadError: Error, Equatable, CustomStringConvertible {
  /// The file's path.
  public let path: String
  /// What the system said, or what is wrong with the file.
  public let reason: String

  /// An error about a file.
  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  /// The path and the reason.
  public var description: String { "\(path): \(reason)" }
}

/// Reads whole small files.
public enum FileReader {
  /// The bytes of a file.
  ///
  /// - Parameters:
  ///   - path: the file; `/dev/stdin` and pipes work too.
  ///   - limit: the most bytes that it may have.
  ///   - blocking: false for a plain file only, which nobody must be waited for to write.
  /// - Returns: all of them.
  /// - Throws: what the system said, or that the file is larger than the limit, or no plain file.
  public static func bytes(of path: String, limit: Int, blocking: Bool = true) throws(FileReadError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (blocking ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    if !blocking {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw failure(path) }
      guard status.st_mode & S_IFMT == S_IFREG else { throw FileReadError(path: path, reason: "this is no plain file") }
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
