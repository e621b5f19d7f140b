internal import CAres
internal import CSockets
internal import Glibc
internal import ReachabilityModel

/// An ICMP socket (icmp(7)), and the memory of the packets that it sends and receives in batches.
///
/// A datagram socket needs no privilege if `net.ipv4.ping_group_range` includes our group; a raw socket needs
/// CAP_NET_RAW, but only to be opened.
@safe final class ICMPEchoPackets {
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

  /// A received packet that may answer a request: the sequence number says which one.
  struct Reply {
    let head: ICMPEchoPacket.Head
    let peer: SocketPeer
    /// The kernel's time stamp; 0 without one.
    let arrived: Int64
    let hopLimit: Int?
    let local: IPAddress?
  }

  /// Where and how a request is sent.
  struct Destination {
    let peer: SocketPeer
    /// The outgoing interface; 0 for any.
    let interface: UInt32
    /// The source address; nil for any.
    let source: IPAddress?
    /// Bytes.
    let payload: Int
  }

  let descriptor: Int32
  private let isIPv6: Bool
  private let isRaw: Bool
  private let outgoing: UnsafeMutablePointer<csockets_batch>
  private let incoming: UnsafeMutablePointer<csockets_batch>
  /// The identifier in raw packets; for a datagram socket the kernel writes its own.
  private let identifier = UInt16.random(in: 0...UInt16.max)
  /// A value that a reply must return, so that only hosts that received the request can answer it.
  private let cookie = UInt64.random(in: 1...UInt64.max)

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
  init?(_ opened: Opened, ipv6: Bool) {
    guard let descriptor = opened.descriptor else { return nil }
    isIPv6 = ipv6
    if case .raw = opened { isRaw = true } else { isRaw = false }
    self.descriptor = descriptor
    unsafe outgoing = .allocate(capacity: 1)
    unsafe incoming = .allocate(capacity: 1)
    unsafe memset(outgoing, 0, MemoryLayout<csockets_batch>.size)
    unsafe memset(incoming, 0, MemoryLayout<csockets_batch>.size)
    configure()
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

  // MARK: Sending

  /// Encodes the request at an index of the next batch.
  func encode(_ destination: Destination, _ sequence: UInt16, at index: Int) {
    let index = Int32(index)
    let buffer = unsafe UnsafeMutableRawBufferPointer(
      start: csockets_packet(outgoing, index), count: Int(CSOCKETS_PACKET))
    let length = unsafe ICMPEchoPacket.write(
      into: buffer, isIPv6: isIPv6, identifier: identifier, sequence: sequence, cookie: cookie,
      payload: destination.payload)
    unsafe destination.peer.withSocketAddress { unsafe csockets_prepare_send(outgoing, index, $0, $1, length) }
    guard destination.interface != 0 || destination.source != nil else { return }
    if let source = destination.source?.unmapped.octets {
      unsafe csockets_set_pktinfo(outgoing, index, isIPv6 ? 1 : 0, destination.interface, source)
    } else {
      unsafe csockets_set_pktinfo(outgoing, index, isIPv6 ? 1 : 0, destination.interface, nil)
    }
  }

  /// Sends a part of the batch; returns the number of packets that were sent, or a negative one with `errno`.
  func send(_ range: Range<Int>) -> Int {
    Int(unsafe csockets_send(descriptor, outgoing, Int32(range.lowerBound), Int32(range.count)))
  }

  // MARK: Receiving

  /// Receives a batch; returns the number of packets, or a negative one with `errno`.
  func receive() -> Int { Int(unsafe csockets_receive(descriptor, incoming)) }

  /// The packet at an index of the received batch, if it is a reply to this process.
  func reply(at index: Int) -> Reply? {
    let index = Int32(index)
    guard let (head, peer) = packet(index, skipsHeader: isRaw && !isIPv6),
      head.type == (isIPv6 ? ICMPEchoPacket.reply6 : ICMPEchoPacket.reply4)
    else { return nil }
    let ancillary = unsafe csockets_read_ancillary(incoming, index)
    return Reply(
      head: head, peer: peer, arrived: ancillary.arrived,
      hopLimit: ancillary.hop_limit < 0 ? nil : Int(ancillary.hop_limit), local: Self.local(ancillary))
  }

  /// Whether a reply returns the sent data (RFC 792); a request without space for the cookie proves less.
  func isAuthentic(_ head: ICMPEchoPacket.Head, payload: Int) -> Bool {
    head.cookie == cookie || head.cookie == nil && payload < ICMPEchoPacket.cookieBytes
  }

  private static func local(_ ancillary: csockets_ancillary) -> IPAddress? {
    unsafe withUnsafeBytes(of: ancillary.local) { octets in
      switch ancillary.local_length {
      case 4: unsafe IPAddress(ipv4: UInt32(bigEndian: octets.loadUnaligned(as: UInt32.self)))
      case 16: unsafe IPAddress(ipv6Octets: octets)
      default: nil
      }
    }
  }

  /// Takes the errors of the socket: from ICMP messages, and from neighbours that do not respond (ip(7), IP_RECVERR).
  ///
  /// - Parameter body: receives the sequence number of a request, its destination, and the error.
  func takeErrors(_ body: (UInt16, SocketPeer, Int32) -> Void) {
    for _ in 0..<Limits.echoErrors {
      guard unsafe csockets_receive_error(descriptor, incoming) == 0 else { return }
      guard let (head, peer) = packet(0, skipsHeader: false),
        head.type == (isIPv6 ? ICMPEchoPacket.request6 : ICMPEchoPacket.request4)
      else { continue }
      body(head.sequence, peer, unsafe csockets_read_ancillary(incoming, 0).error)
    }
  }

  private func packet(_ index: Int32, skipsHeader: Bool) -> (ICMPEchoPacket.Head, SocketPeer)? {
    let bytes = unsafe UnsafeRawBufferPointer(
      start: csockets_packet(incoming, index),
      count: Int(min(csockets_length(incoming, index), UInt32(CSOCKETS_PACKET))))
    guard let head = unsafe ICMPEchoPacket.read(bytes, skipsHeader: skipsHeader),
      !isRaw || head.identifier == identifier,
      let name = unsafe csockets_name(incoming, index),
      let peer = unsafe SocketPeer(name, length: Int(csockets_name_length(incoming, index)))
    else { return nil }
    return (head, peer)
  }
}
