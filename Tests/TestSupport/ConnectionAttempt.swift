internal import CNetlink
internal import Glibc

/// What connect(2) of a TCP socket does inside a namespace: the reference for verdicts.
///
/// The socket does not wait for the other end, so only the kernel's own decision counts.
public enum ConnectionAttempt: Equatable, Sendable {
  /// A packet leaves, from this address.
  case source(String)
  /// The kernel refuses with this errno.
  case refused(Int32)

  /// Whether a packet leaves.
  public var isPossible: Bool { if case .source = self { true } else { false } }
}

extension Namespace {
  /// Begins a TCP connection and closes it.
  ///
  /// - Parameters:
  ///   - address: where to, as inet_pton(3) reads it.
  ///   - source: the address to bind to.
  ///   - interface: the interface to bind to (SO_BINDTODEVICE).
  ///   - port: the port to connect to.
  /// - Returns: what the kernel does.
  /// - Throws: a ``TestError`` when the socket cannot be made or bound.
  public func connect(
    to address: String, from source: String? = nil, interface: String? = nil, port: UInt16 = 9
  ) throws(TestError) -> ConnectionAttempt {
    try run { () throws(TestError) in
      let family = address.contains(":") ? AF_INET6 : AF_INET
      let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { throw .system("socket") }
      defer { close(descriptor) }
      if let interface {
        let length = socklen_t(interface.utf8.count)
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, interface, length) == 0 else {
          throw .system("SO_BINDTODEVICE")
        }
      }
      if let source {
        let bound = unsafe Self.withSocketAddress(source, port: 0) { unsafe bind(descriptor, $0, $1) }
        guard bound == 0 else { throw .system("bind \(source)") }
      }
      let connected = unsafe Self.withSocketAddress(address, port: port) { unsafe Glibc.connect(descriptor, $0, $1) }
      guard connected == 0 || errno == EINPROGRESS else { return .refused(errno) }
      return .source(Self.localAddress(of: descriptor, family))
    }
  }

  private static func withSocketAddress(
    _ text: String, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var storage = sockaddr_storage()
    return unsafe withUnsafeMutableBytes(of: &storage) { raw in
      guard let start = raw.baseAddress else { return -1 }
      let isIPv6 = text.contains(":")
      // struct sockaddr_in6 and struct sockaddr_in: family, port in network order, then (IPv6: the flow) the address.
      unsafe raw.storeBytes(of: sa_family_t(isIPv6 ? AF_INET6 : AF_INET), as: sa_family_t.self)
      unsafe raw.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
      unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, start + (isIPv6 ? 8 : 4))
      let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
      return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
    }
  }

  private static func localAddress(of descriptor: Int32, _ family: Int32) -> String {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutableBytes(of: &storage) { raw in
      guard let start = raw.baseAddress else { return "" }
      _ = unsafe getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length)
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      unsafe inet_ntop(family, start + (family == AF_INET6 ? 8 : 4), &text, socklen_t(text.count))
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
