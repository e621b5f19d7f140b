internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// The one ICMP socket of a family, for all targets (icmp(7)).
///
/// Requests are sent and replies received in batches, and the sequence number assigns each reply to its request. A
/// datagram socket needs no privilege if `net.ipv4.ping_group_range` includes our group; a raw socket needs
/// CAP_NET_RAW, but only to be opened.
@safe final class ICMPEchoSocket: ProberDescriptorHandler {
  /// The result of opening a socket.
  enum Opened {
    case datagram(Int32)
    case raw(Int32)
    case refused(Int32)

    var descriptor: Int32? {
      switch self {
      case .datagram(let descriptor), .raw(let descriptor): descriptor
      case .refused: nil
      }
    }
  }

  let isIPv6: Bool
  let isRaw: Bool
  let descriptor: Int32
  unowned let loop: ProberLoop
  let outgoing: UnsafeMutablePointer<csockets_batch>
  let incoming: UnsafeMutablePointer<csockets_batch>
  /// The identifier in raw packets; for a datagram socket the kernel writes its own.
  let identifier = UInt16.random(in: 0...UInt16.max)
  /// A value that a reply must return, so that only hosts that received the request can answer it.
  let cookie = UInt64.random(in: 1...UInt64.max)
  /// The exchanges that send next, one entry for each request.
  var waiting: [ICMPEchoSequence] = []
  var pending = PendingICMPEchoRequests()

  /// Opens a socket of a family; a raw socket must be opened before privileges are dropped.
  static func open(ipv6: Bool) -> Opened {
    let family = ipv6 ? AF_INET6 : AF_INET
    let number = Int32(ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP)
    let datagram = socket(family, Int32(SOCK_DGRAM.rawValue) | ProberSocket.flags, number)
    if datagram >= 0 { return .datagram(datagram) }
    let raw = socket(family, Int32(SOCK_RAW.rawValue) | ProberSocket.flags, number)
    return raw >= 0 ? .raw(raw) : .refused(errno)
  }

  /// Takes over an open socket; nil if there is none.
  init?(_ opened: Opened, ipv6: Bool, _ loop: ProberLoop) {
    guard let descriptor = opened.descriptor else { return nil }
    isIPv6 = ipv6
    if case .raw = opened { isRaw = true } else { isRaw = false }
    self.descriptor = descriptor
    self.loop = loop
    unsafe outgoing = .allocate(capacity: 1)
    unsafe incoming = .allocate(capacity: 1)
    unsafe memset(outgoing, 0, MemoryLayout<csockets_batch>.size)
    unsafe memset(incoming, 0, MemoryLayout<csockets_batch>.size)
    configure()
    loop.register(descriptor, self)
    watch(.readable)
  }

  deinit {
    Glibc.close(descriptor)
    unsafe outgoing.deallocate()
    unsafe incoming.deallocate()
  }

  private func configure() {
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
      var value = value
      unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    set(SOL_SOCKET, SO_RCVBUF, Limits.echoReceiveBuffer)
    set(SOL_SOCKET, Int32(csockets_so_timestampns), 1)
    if isIPv6 {
      let level = Int32(IPPROTO_IPV6)
      for option in [csockets_ipv6_recvhoplimit, csockets_ipv6_recvpktinfo, csockets_ipv6_recverr] {
        set(level, Int32(option), 1)
      }
      // Blocks everything except echo replies (RFC 3542 §3.2, ICMP6_FILTER).
      guard isRaw else { return }
      var filter = [UInt32](repeating: .max, count: 8)
      filter[Int(ICMPEchoPacket.reply6) / 32] &= ~(1 << UInt32(ICMPEchoPacket.reply6 % 32))
      unsafe setsockopt(descriptor, Int32(IPPROTO_ICMPV6), 1, filter, 32)
    } else {
      for option in [csockets_ip_recvttl, csockets_ip_pktinfo, csockets_ip_recverr] {
        set(Int32(IPPROTO_IP), Int32(option), 1)
      }
      // As above (raw(7), ICMP_FILTER).
      if isRaw { set(Int32(SOL_RAW), 1, ~1) }
    }
  }

  func ready(_ event: Poller.Event) {
    if event.isReadable { receive() }
    if event.isWritable {
      watch(.readable)
      flush()
    }
  }

  /// Sets the events to watch the socket for.
  ///
  /// If the kernel has no memory for it, the checks end at their deadlines.
  func watch(_ events: Poller.Events) {
    try? loop.poller.set(descriptor, events)
  }
}
