internal import CNetlink
internal import Glibc

/// A service manager's end of sd_notify(3): a datagram socket on a path, or after `@` on an abstract name.
///
/// The path is removed with the last reference.
public final class NotifySocket: Sendable {
  private let descriptor: Int32
  private let address: String

  /// Binds the address.
  ///
  /// - Throws: a ``TestError`` when that is not possible.
  public init(_ address: String) throws(TestError) {
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system("socket") }
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &target.sun_path) { path in
      unsafe path.copyBytes(from: Array(address.utf8))
      if address.hasPrefix("@") { unsafe path[0] = 0 }
    }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
    let code = unsafe withUnsafeBytes(of: &target) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) { unsafe bind(descriptor, $0.baseAddress, size) }
    }
    guard code == 0 else {
      close(descriptor)
      throw .system("bind \(address)")
    }
  }

  deinit {
    close(descriptor)
    if address.hasPrefix("/") { unsafe unlink(address) }
  }

  /// The next message; nil when none comes within 20 seconds.
  public func next() -> String? {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waited, 1, 20_000) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
