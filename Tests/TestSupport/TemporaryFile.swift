import Glibc

/// A file with a text, which goes with its last reference.
public final class TemporaryFile: Sendable {
  /// Where it is.
  public let path: String

  /// Writes the text into a fresh file.
  ///
  /// - Throws: a ``TestError`` when it cannot be written.
  public init(_ text: String, suffix: String = ".yaml") throws(TestError) {
    path = "/tmp/reachd-test-\(getpid())-\(UInt64.random(in: 0 ... .max))\(suffix)"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw TestError("open \(path): \(errno)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes[written...].withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw TestError("write \(path): \(errno)") }
      written += count
    }
  }

  deinit { _ = unsafe unlink(path) }
}
