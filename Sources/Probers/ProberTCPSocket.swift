internal import CAres
internal import CSockets
internal import Glibc
internal import ReachabilityModel

/// A non-blocking TCP socket that connects to one peer (tcp(7), connect(2)).
struct ProberTCPSocket {
  enum Progress {
    case pending
    /// The local address of the connection.
    case connected(IPAddress?)
    case failed(SocketFailure)
    /// The remote address is not the one that was requested.
    case peerMismatch
  }

  enum Purpose {
    /// To test whether a server listens.
    ///
    /// The last packet of the handshake, its acknowledgement, is held back (tcp(7), TCP_QUICKACK), and
    /// ``setResetOnClose()`` makes it a reset. The connection carries no data, so the server's program is not woken,
    /// its queue of new connections stays free, and no local port stays in TIME-WAIT: 10,000 checks in 10 seconds would
    /// occupy all ports.
    case connectOnly
    case dialogue
  }

  let descriptor: Int32
  let peer: SocketPeer

  /// Starts to connect; throws if the kernel refuses immediately.
  init(to peer: SocketPeer, _ request: CheckRequest, for purpose: Purpose = .dialogue) throws(SocketFailure) {
    self.peer = peer
    let family = peer.address.unmapped.family
    descriptor = socket(
      family == .ipv4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue) | ProberSocket.flags, 0)
    guard descriptor >= 0 else { throw .immediate(errno) }
    do throws(SocketFailure) {
      try ProberSocket.bind(descriptor, request, family: family)
      if purpose == .connectOnly { ProberSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, 0) }
      let code = unsafe peer.withSocketAddress { unsafe connect(descriptor, $0, $1) }
      guard code == 0 || errno == EINPROGRESS else {
        // Without a free port, TCP returns the error of a missing source.
        let code = errno
        throw .immediate(code == EADDRNOTAVAIL && Self.hasSource(towards: peer, request) ? EAGAIN : code)
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Whether the kernel finds a source address for a connection that it has refused with EADDRNOTAVAIL: then no port is left.
  ///
  /// IPv4 has another error without a source, and a source that the request names was bound before. In IPv6 a UDP socket shows
  /// it, which has ports of its own.
  private static func hasSource(towards peer: SocketPeer, _ request: CheckRequest) -> Bool {
    let family = peer.address.unmapped.family
    guard family == .ipv6, request.source == nil else { return true }
    let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | ProberSocket.flags, 0)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    guard (try? ProberSocket.bind(descriptor, request, family: family)) != nil else { return false }
    let code = unsafe peer.withSocketAddress { unsafe connect(descriptor, $0, $1) }
    return code == 0 || errno != EADDRNOTAVAIL
  }

  /// The progress of the connection; one system call if it is established, which is the most frequent case.
  func progress() -> Progress {
    guard let other = SocketPeer.remote(of: descriptor) else {
      var code: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
        return .failed(.later(errno))
      }
      // What arrived before a reset counts: the connection was established.
      if code == ECONNRESET, hasData { return .connected(SocketPeer.local(of: descriptor)?.address) }
      return code == 0 ? .pending : .failed(.later(code))
    }
    let local = SocketPeer.local(of: descriptor)
    // On this machine a connection to a port without a listener can connect to itself, if the kernel selects that port
    // as its source (RFC 9293 §3.5, simultaneous open).
    if local?.port == other.port, local?.address == other.address { return .failed(.later(ECONNREFUSED)) }
    guard other.port == peer.port, other.address == peer.address.unmapped else { return .peerMismatch }
    return .connected(local?.address)
  }

  /// Makes closing send a reset (socket(7), SO_LINGER): only for a connection without data.
  func setResetOnClose() {
    var lingering = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
  }

  /// Whether a read returns data (recv(2), MSG_PEEK).
  private var hasData: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
  }

  /// Whether a read returns data, the end or an error (recv(2), MSG_PEEK).
  var isReadable: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK)) >= 0 || errno != EAGAIN
  }
}

/// Options that all sockets of checks share.
enum ProberSocket {
  static let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

  /// Sets an integer option (setsockopt(2)).
  @discardableResult
  static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Int32 {
    var value = value
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Binds to the interface and the source that the request names (socket(7), SO_BINDTODEVICE; bind(2)).
  static func bind(
    _ descriptor: Int32, _ request: CheckRequest, family: IPAddress.Family
  ) throws(SocketFailure) {
    if let interface = request.interface {
      let length = socklen_t(interface.utf8.count)
      guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, interface, length) == 0 else {
        throw .immediate(errno)
      }
    }
    guard let source = request.source?.unmapped else { return }
    // A source of the other family is not available.
    guard source.family == family else { throw .immediate(EADDRNOTAVAIL) }
    // connect(2) selects the port, so that one port can serve many peers (ip(7), IP_BIND_ADDRESS_NO_PORT).
    set(descriptor, Int32(IPPROTO_IP), 24, 1)
    let code = unsafe SocketPeer(address: source, port: 0).withSocketAddress { unsafe Glibc.bind(descriptor, $0, $1) }
    guard code == 0 else { throw .immediate(errno) }
  }

  /// A UDP socket that is connected to a peer, so that it receives only packets of this peer, and ICMP errors.
  static func datagram(to peer: SocketPeer, _ request: CheckRequest) throws(SocketFailure) -> Int32 {
    let family = peer.address.unmapped.family
    let descriptor = socket(family == .ipv4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue) | flags, 0)
    guard descriptor >= 0 else { throw .immediate(errno) }
    do throws(SocketFailure) {
      try bind(descriptor, request, family: family)
      // Reports also that a host or network is unreachable, which UDP ignores by default (ip(7), IP_RECVERR).
      let level = family == .ipv4 ? Int32(IPPROTO_IP) : Int32(IPPROTO_IPV6)
      let option = family == .ipv4 ? Int32(csockets_ip_recverr) : Int32(csockets_ipv6_recverr)
      guard set(descriptor, level, option, 1) == 0 else { throw .immediate(errno) }
      guard unsafe peer.withSocketAddress({ unsafe connect(descriptor, $0, $1) }) == 0 else { throw .immediate(errno) }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }
}
