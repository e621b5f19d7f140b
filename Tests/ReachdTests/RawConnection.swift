import Glibc
import TestSupport

/// A connection to a port of 127.0.0.1 that sends exactly the given bytes, and is closed with its last reference.
final class RawConnection: Sendable {
  private let descriptor: Int32

  init(to port: UInt16) throws {
    (descriptor, _) = try Loopback.bound(.stream)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let code = unsafe withUnsafeBytes(of: &address) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) {
        unsafe connect(descriptor, $0.baseAddress, socklen_t(raw.count))
      }
    }
    guard code == 0 else { throw Loopback.Failure(operation: "connect") }
    // A broken service does not block the test.
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Sends what the peer takes.
  func send(_ text: String) { Loopback.send(Array(text.utf8), to: descriptor) }

  /// The status of the response; nil if the connection ends before it.
  func status() -> String? {
    let line = String(decoding: Loopback.receive(12, from: descriptor), as: UTF8.self)
    return line.hasPrefix("HTTP/1.1 ") ? String(line.suffix(3)) : nil
  }

  /// All that the peer sends until it closes the connection.
  func rest() -> String {
    var bytes: [UInt8] = []
    while case let more = Loopback.receive(65_536, from: descriptor), !more.isEmpty { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The descriptors of this process.
enum DescriptorRange {
  /// Raises the soft limit to the hard one, and returns it.
  static func raise() -> UInt64 {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : 0
  }
}
