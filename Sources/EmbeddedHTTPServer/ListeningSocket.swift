internal import Glibc

/// A bound, listening socket.
///
/// This module binds the socket itself, because libmicrohttpd's `LISTENING_ADDRESS_REUSE` sets SO_REUSEPORT. That lets
/// two servers share a port without an error, and each receives half of the clients.
struct ListeningSocket {
  let descriptor: Int32
  let address: ListenAddress
  /// The file of a Unix-domain socket that this process must remove.
  let file: ListeningSocketFile?
  /// Whether this process bound the socket.
  let isOwn: Bool

  /// Binds an address and listens.
  ///
  /// - Parameters:
  ///   - address: the address.
  ///   - mode: the mode of a Unix-domain socket's file.
  ///   - mayBeAbsent: whether to bind an address that no interface has, or that is tentative.
  /// - Throws: what the kernel refuses.
  init(_ address: ListenAddress, mode: UInt32, mayBeAbsent: Bool = false) throws(HTTPServerError) {
    isOwn = true
    if let path = address.path {
      let descriptor = Self.open(AF_UNIX)
      guard descriptor >= 0 else { throw HTTPServerError(operation: "socket", object: path, errno: errno) }
      do throws(HTTPServerError) {
        file = try ListeningSocketFile(binding: descriptor, to: path, mode: mode)
      } catch {
        close(descriptor)
        throw error
      }
      self.descriptor = descriptor
      self.address = address
      return
    }
    guard var target = ListenSocketAddress(host: address.host, port: address.port) else {
      if ListenSocketAddress(host: address.host, port: address.port, isZoneKnown: false) != nil {
        throw HTTPServerError(operation: "bind", object: address.description, errno: ENODEV)
      }
      throw HTTPServerError(
        operation: "listen address", object: address.description, reason: "the host is not an IP address")
    }
    func failed(_ operation: String) -> HTTPServerError {
      HTTPServerError(operation: operation, object: address.description, errno: errno)
    }
    var host = address.host
    let descriptor = Self.open(&target, &host)
    guard descriptor >= 0 else { throw failed("socket") }
    do throws(HTTPServerError) {
      // SO_REUSEADDR: a restart must not wait until the kernel has dropped old connections (socket(7)).
      guard Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) else { throw failed("setsockopt") }
      // `::` serves both families, every other IPv6 address only its own (ipv6(7)).
      if target.family == AF_INET6 {
        guard Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, target.isEveryIPv6 ? 0 : 1) else {
          throw failed("setsockopt")
        }
      }
      if mayBeAbsent {
        let isIPv6 = target.family == AF_INET6
        guard Self.set(descriptor, Int32(isIPv6 ? IPPROTO_IPV6 : IPPROTO_IP), isIPv6 ? IPV6_FREEBIND : IP_FREEBIND, 1)
        else { throw failed("setsockopt") }
      }
      Self.setInherited(descriptor)
      guard unsafe target.withSockaddr({ unsafe bind(descriptor, $0, $1) }) == 0 else {
        var error = failed("bind")
        error.reason = Self.advice(error.code) ?? error.reason
        throw error
      }
      guard listen(descriptor, Limits.backlog) == 0 else { throw failed("listen") }
      guard let port = Self.bound(descriptor)?.port else { throw failed("getsockname") }
      self.descriptor = descriptor
      self.address = ListenAddress(host: host, port: port)
      file = nil
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// What to do about an address that cannot be bound; nil for other errors.
  private static func advice(_ code: Int32?) -> String? {
    switch code {
    case EADDRINUSE: "another program, maybe reachd, uses the address; `ss -ltnp` shows which one"
    case EADDRNOTAVAIL:
      "no interface has the address now, or it is still tentative (IPv6); `ip address` shows the addresses. "
        + "Give the address freebind: on, start reachd later (systemd: After=network-online.target), or listen on [::]"
    default: nil
    }
  }

  /// Opens a socket for an address, which is replaced where the kernel has no IPv6: `::` is every address of both families.
  private static func open(_ address: inout ListenSocketAddress, _ host: inout String) -> Int32 {
    let descriptor = open(address.family)
    guard descriptor < 0, errno == EAFNOSUPPORT, address.isEveryIPv6,
      let every = ListenSocketAddress(host: "0.0.0.0", port: address.port)
    else { return descriptor }
    (address, host) = (every, "0.0.0.0")
    return open(AF_INET)
  }

  /// Opens a stream socket; negative for an error.
  private static func open(_ family: Int32) -> Int32 {
    socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
  }

  /// Uses a socket that another process bound and that listens already; the server owns and closes it.
  init(inherited descriptor: Int32) throws(HTTPServerError) {
    let object = "inherited descriptor \(descriptor)"
    guard Self.get(descriptor, SO_ACCEPTCONN) == 1, Self.get(descriptor, SO_TYPE) == Int32(SOCK_STREAM.rawValue) else {
      throw HTTPServerError(operation: "take over", object: object, reason: "it is no listening stream socket")
    }
    guard let address = Self.address(of: descriptor) else {
      throw HTTPServerError(
        operation: "take over", object: object, reason: "it is no socket of IPv4, IPv6 or with a path")
    }
    guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0 else {
      throw HTTPServerError(operation: "fcntl", object: object, errno: errno)
    }
    Self.setInherited(descriptor)
    self.descriptor = descriptor
    self.address = address
    isOwn = false
    // The process that bound the socket removes its file.
    file = nil
  }

  /// Sets the options that accepted sockets inherit: the time for unacknowledged bytes, and the maximum size of segments.
  ///
  /// Several segments must fit into a stream's send buffer on the loopback interface, too. Loopback segments have 64 KiB, as much as that whole buffer, and a client acknowledges a single segment 40 ms late
  /// (RFC 9293, 3.8.6.3), which would delay the stream. A Unix-domain socket rejects both options.
  private static func setInherited(_ descriptor: Int32) {
    set(descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, Limits.segment)
    set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Limits.unacknowledged)
  }

  /// Closes the socket and removes its file.
  func closeAndUnlink() {
    file?.remove()
    close(descriptor)
  }

  /// Returns the bound address; nil for other families and for Unix-domain sockets without a path.
  static func address(of descriptor: Int32) -> ListenAddress? {
    if let bound = bound(descriptor) { return ListenAddress(host: bound.host, port: bound.port) }
    return unsafe withName(descriptor) { unsafe UnixSocketAddress.path(of: $0, size: $1) }.map(
      ListenAddress.init(path:))
  }

  private static func get(_ descriptor: Int32, _ option: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : nil
  }

  @discardableResult
  static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
    var value = value
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  private static func bound(_ descriptor: Int32) -> ListenSocketAddress? {
    unsafe withName(descriptor) { address, _ in unsafe ListenSocketAddress(reading: address) }
  }

  private static func withName<Result>(
    _ descriptor: Int32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result?
  ) -> Result? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe getsockname(descriptor, address, &size) == 0 else { return nil }
        return unsafe body(address, size)
      }
    }
  }
}

/// The number of descriptors this process may open.
enum ServerDescriptorLimit {
  /// Raises the soft limit as far as the hard one allows and returns it (getrlimit(2)).
  static func raise() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    let wanted = rlimit(rlim_cur: min(limit.rlim_max, rlim_t(Limits.descriptors)), rlim_max: limit.rlim_max)
    guard wanted.rlim_cur > limit.rlim_cur else { return Int(clamping: limit.rlim_cur) }
    return unsafe withUnsafePointer(to: wanted) { pointer in
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), pointer) == 0
    } ? Int(clamping: wanted.rlim_cur) : Int(clamping: limit.rlim_cur)
  }
}
