import Glibc

/// A directory of its own on a file system, which is removed with its content.
public final class TemporaryDirectory: Sendable {
  /// Where it is.
  public let path: String

  /// Makes a directory that only this user may use.
  ///
  /// - Throws: a ``TestError`` when it cannot be created.
  public init(in parent: String = "/tmp") throws(TestError) {
    path = "\(parent)/reachd-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    guard unsafe mkdir(path, 0o700) == 0 else { throw .system("mkdir \(path)") }
  }

  deinit { Self.remove(path) }

  /// Writes a text into a file and returns its path.
  ///
  /// - Throws: a ``TestError`` when it cannot be written.
  public func write(_ text: String, as name: String) throws(TestError) -> String {
    let file = "\(path)/\(name)"
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system("open \(file)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe bytes.withUnsafeBytes({ unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count
    else { throw .system("write \(file)") }
    return file
  }

  /// The names of its entries.
  public var names: [String] { Self.names(path) }

  private static func names(_ path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func remove(_ path: String) {
    for name in names(path) {
      let entry = "\(path)/\(name)"
      if unsafe unlink(entry) != 0 { remove(entry) }
    }
    unsafe rmdir(path)
  }
}
