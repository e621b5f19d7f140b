internal import CAres
internal import CSockets
internal import Glibc
internal import ReachabilityModel

/// One endpoint of a socket: an address, its port, and the link of a link-local address.
struct SocketPeer: Hashable {
  var address: IPAddress
  /// 0 if the protocol has no ports.
  var port: UInt16
  /// The interface index (RFC 4007); 0 for none.
  var scope: UInt32 = 0

  /// Calls `body` with the address as the socket calls require it; IPv4-mapped addresses are passed as IPv4 addresses.
  func withSocketAddress<Outcome>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Outcome) -> Outcome {
    let plain = address.unmapped
    guard plain.family == .ipv4 else {
      var six = sockaddr_in6()
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      six.sin6_scope_id = scope
      unsafe withUnsafeMutableBytes(of: &six.sin6_addr) { bytes in
        unsafe bytes.storeBytes(of: plain.high.bigEndian, as: UInt64.self)
        unsafe bytes.storeBytes(of: plain.low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      return unsafe withUnsafePointer(to: six) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = port.bigEndian
    four.sin_addr.s_addr = UInt32(truncatingIfNeeded: plain.low).bigEndian
    return unsafe withUnsafePointer(to: four) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// Decodes the result of a socket call; nil for other families and for truncated addresses.
  init?(_ bytes: UnsafeRawPointer, length: Int) {
    guard length >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(unsafe bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      let four = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
      self.init(
        address: IPAddress(ipv4: UInt32(bigEndian: four.sin_addr.s_addr)), port: UInt16(bigEndian: four.sin_port))
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      let six = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
      let address = unsafe withUnsafeBytes(of: six.sin6_addr) { unsafe IPAddress(ipv6Octets: $0) }
      self.init(address: address, port: UInt16(bigEndian: six.sin6_port), scope: six.sin6_scope_id)
    default: return nil
    }
  }

  init(address: IPAddress, port: UInt16, scope: UInt32 = 0) {
    self.address = address
    self.port = port
    self.scope = scope
  }

  /// The remote end of a connected socket (getpeername(2)); nil, with errno set, if it is not connected.
  static func remote(of descriptor: Int32) -> SocketPeer? {
    var buffer = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    return unsafe withUnsafeMutablePointer(to: &buffer) { pointer -> SocketPeer? in
      let done = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getpeername(descriptor, $0, &length) == 0
      }
      return done ? unsafe SocketPeer(UnsafeRawPointer(pointer), length: Int(length)) : nil
    }
  }

  /// The local end (getsockname(2)).
  static func local(of descriptor: Int32) -> SocketPeer? {
    var buffer = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    return unsafe withUnsafeMutablePointer(to: &buffer) { pointer -> SocketPeer? in
      let done = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length) == 0
      }
      return done ? unsafe SocketPeer(UnsafeRawPointer(pointer), length: Int(length)) : nil
    }
  }
}

extension IPAddress {
  /// The 16 octets of a `struct in6_addr`.
  init(ipv6Octets octets: UnsafeRawBufferPointer) {
    unsafe self.init(
      ipv6: UInt64(bigEndian: octets.loadUnaligned(as: UInt64.self)),
      UInt64(bigEndian: octets.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
