internal import Glibc

/// A file system of some megabytes in memory, which can be full; only the programs of its launcher see it.
public final class SmallDisk: Sendable {
  /// Where those programs find it.
  public let path: String
  private let directory: TemporaryDirectory
  /// Keeps its mount namespace.
  private let holder: Child

  /// Creates an empty file system; needs root, or a user namespace.
  ///
  /// - Parameter megabytes: its size.
  /// - Throws: a ``TestError`` when it cannot be mounted.
  public init(megabytes: Int) throws(TestError) {
    directory = try TemporaryDirectory()
    path = directory.path
    let mount = "mount -t tmpfs -o size=\(megabytes)m,mode=700 tmpfs \(path) && echo mounted >&2"
    let holder = try Child("/usr/bin/unshare", ["-m", "/bin/sh", "-c", "\(mount) && exec sleep 600"])
    self.holder = holder
    guard eventually({ holder.errors.contains("mounted") || holder.poll() != nil }), holder.poll() == nil else {
      throw TestError("no tmpfs: \(holder.errors)")
    }
  }

  deinit { holder.kill() }

  /// What precedes the command of a program that uses it.
  var launcher: [String] { ["/usr/bin/nsenter", "-m", "-t", "\(holder.id)", "--"] }

  private var filler: String { "/proc/\(holder.id)/root\(path)/filler" }

  /// Writes a file until there is no space.
  ///
  /// - Throws: a ``TestError`` when the file cannot be written.
  public func fill() throws(TestError) {
    let descriptor = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
    guard descriptor >= 0 else { throw TestError("\(filler): errno \(errno)") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 0, count: 4096)
    while unsafe write(descriptor, block, block.count) == block.count {}
    guard errno == ENOSPC else { throw TestError("\(filler): errno \(errno)") }
  }

  /// Deletes that file.
  public func free() { _ = unsafe unlink(filler) }
}
