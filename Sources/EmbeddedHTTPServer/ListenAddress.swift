internal import Glibc

/// Where to listen: an IP literal and a TCP port, or the path of a Unix-domain socket.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
  /// The address without brackets: `127.0.0.1`, `::1`, `fe80::1%eth0`; empty for a Unix-domain socket.
  public let host: String
  /// The port; 0 lets the kernel choose.
  public let port: UInt16
  /// The path of a Unix-domain socket (unix(7)); nil for TCP.
  public let path: String?

  /// Makes an address from its parts without a check; binding fails if the host is not an IP literal.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
    path = nil
  }

  /// Makes the address of a Unix-domain socket from a path, without a check.
  public init(path: String) {
    host = ""
    port = 0
    self.path = path
  }

  /// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` (which is 127.0.0.1) or `unix:/run/reachd.sock`.
  ///
  /// Brackets around an IPv4 address are accepted, and an IPv6 address without them: an orchestrator inserts the address of a
  /// host or pod, of either family, before a port. A port is always there, so the last colon separates it.
  ///
  /// Names are rejected, because a resolver's answer must not decide which clients can reach this service. A missing
  /// host is rejected, because other programs take it for "any address".
  public init(parsing text: String) throws(HTTPServerError) {
    func refused(_ reason: String) -> HTTPServerError {
      HTTPServerError(operation: "listen address", object: text, reason: reason)
    }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard path.hasPrefix("/"), !path.hasSuffix("/") else {
        throw refused("the path must be absolute; write it like unix:/run/reachd.sock")
      }
      guard UnixSocketAddress(path) != nil else {
        throw refused("the path is longer than \(UnixSocketAddress.longestPath) bytes")
      }
      self.init(path: path)
      return
    }
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
      throw refused("a port is missing; write it like 127.0.0.1:8080")
    }
    var host = String(text[..<colon])
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let port = UInt16(digits) else {
      throw refused("the port must be a number from 0 to 65535")
    }
    if host.isEmpty {
      throw refused("a host is missing; write 127.0.0.1\(text) for this machine or [::]\(text) for every address")
    }
    if host.equalsIgnoringCase("localhost") { host = "127.0.0.1" }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    // The interface of a zone may be created before this address is bound.
    guard let address = ListenSocketAddress(host: host, port: port, isZoneKnown: false) else {
      throw refused("the host must be an IPv4 or IPv6 address, or localhost, such as 127.0.0.1:8080 or [::1]:8080")
    }
    // Each address has one canonical spelling, because rules are looked up by it.
    let zone = host.firstIndex(of: "%").map { host[$0...] } ?? ""
    self.init(host: address.host + zone, port: port)
  }

  /// `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/reachd.sock`.
  public var description: String {
    if let path { return "unix:\(path)" }
    return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Whether only this machine can connect: a Unix-domain socket, 127.0.0.0/8 or ::1.
  ///
  /// RFC 1122, section 3.2.1.3, and RFC 4291, section 2.5.3, define the loopback addresses.
  public var isLoopback: Bool {
    path != nil || ListenSocketAddress(host: host, port: port, isZoneKnown: false)?.isLoopback ?? false
  }
}

enum ListenSocketAddress {
  case ipv4(sockaddr_in)
  case ipv6(sockaddr_in6)

  /// Parses an IP literal; nil if `host` is not one, or if its zone must be known and names no interface.
  init?(host: String, port: UInt16, isZoneKnown: Bool = true) {
    let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard let literal = parts.first.map(String.init) else { return nil }
    var four = sockaddr_in()
    if parts.count == 1, unsafe inet_pton(AF_INET, literal, &four.sin_addr) == 1 {
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      self = .ipv4(four)
      return
    }
    var six = sockaddr_in6()
    guard unsafe inet_pton(AF_INET6, literal, &six.sin6_addr) == 1 else { return nil }
    six.sin6_family = sa_family_t(AF_INET6)
    six.sin6_port = port.bigEndian
    if parts.count == 2 {
      guard Self.isInterfaceName(parts[1]) else { return nil }
      six.sin6_scope_id = unsafe if_nametoindex(String(parts[1]))
      guard six.sin6_scope_id != 0 || !isZoneKnown else { return nil }
    }
    self = .ipv6(six)
  }

  /// The names that the kernel accepts for interfaces (dev_valid_name).
  private static func isInterfaceName(_ text: Substring) -> Bool {
    (1..<Int(IFNAMSIZ)).contains(text.utf8.count) && text != "." && text != ".."
      && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && !"/:".utf8.contains($0) }
  }

  /// Copies a socket address; nil if it belongs to neither family.
  init?(reading address: UnsafePointer<sockaddr>) {
    let raw = unsafe UnsafeRawPointer(address)
    switch Int32(unsafe address.pointee.sa_family) {
    case AF_INET: self = unsafe .ipv4(raw.loadUnaligned(as: sockaddr_in.self))
    case AF_INET6: self = unsafe .ipv6(raw.loadUnaligned(as: sockaddr_in6.self))
    default: return nil
    }
  }

  var family: Int32 {
    switch self {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    }
  }

  var port: UInt16 {
    switch self {
    case .ipv4(let address): UInt16(bigEndian: address.sin_port)
    case .ipv6(let address): UInt16(bigEndian: address.sin6_port)
    }
  }

  /// The address without port; an IPv4 address mapped into IPv6 (RFC 4291, section 2.5.5.2) is written as IPv4.
  var host: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let size = socklen_t(text.count)
    switch self {
    case .ipv4(var address): unsafe inet_ntop(AF_INET, &address.sin_addr, &text, size)
    case .ipv6(var address): unsafe inet_ntop(AF_INET6, &address.sin6_addr, &text, size)
    }
    let written = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return written.hasPrefix("::ffff:") && written.contains(".") ? String(written.dropFirst(7)) : written
  }

  var isLoopback: Bool {
    host.hasPrefix("127.") || host == "::1"
  }

  /// Whether the address is `::`, the wildcard for all local addresses.
  var isEveryIPv6: Bool {
    family == AF_INET6 && host == "::"
  }

  /// Calls `body` with the address in the form that the socket calls take.
  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    switch self {
    case .ipv4(let address): unsafe Self.rebind(address, body)
    case .ipv6(let address): unsafe Self.rebind(address, body)
    }
  }

  private static func rebind<Address, Result>(
    _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }
}
