internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

// Receiving.
extension ICMPEchoSocket {
  func receive() {
    for _ in 0..<Limits.echoBatches {
      let count = Int(unsafe csockets_receive(descriptor, incoming))
      if count < 0 {
        if errno == EAGAIN { return }
        // A pending socket error must be read before further replies can be received.
        takeErrors()
        continue
      }
      let now = MonotonicInstant.now
      for index in 0..<count { take(Int32(index), now) }
      if count < Int(CSOCKETS_BATCH) { return }
    }
  }

  /// Assigns a reply to its request by its sequence number; identifier, cookie and address must match too.
  private func take(_ index: Int32, _ now: MonotonicInstant) {
    guard let (head, peer) = packet(index, skipsHeader: isRaw && !isIPv6) else { return }
    guard head.type == (isIPv6 ? ICMPEchoPacket.reply6 : ICMPEchoPacket.reply4),
      let asked = pending[head.sequence]?.exchange, asked.peer.address == peer.address
    else { return }
    // A reply must return the sent data (RFC 792); a request without space for the cookie proves less.
    guard head.cookie == cookie || head.cookie == nil && asked.payload < ICMPEchoPacket.cookieBytes,
      let request = pending.complete(head.sequence)
    else { return }
    let ancillary = unsafe csockets_read_ancillary(incoming, index)
    request.exchange.received(
      request.roundTrip(arrived: ancillary.arrived, seen: now),
      hopLimit: ancillary.hop_limit < 0 ? nil : Int(ancillary.hop_limit), local: Self.local(ancillary))
  }

  /// The local address that received a packet.
  private static func local(_ ancillary: csockets_ancillary) -> IPAddress? {
    unsafe withUnsafeBytes(of: ancillary.local) { octets in
      switch ancillary.local_length {
      case 4: unsafe IPAddress(ipv4: UInt32(bigEndian: octets.loadUnaligned(as: UInt32.self)))
      case 16: unsafe IPAddress(ipv6Octets: octets)
      default: nil
      }
    }
  }

  /// Handles errors from ICMP messages and from neighbours that do not respond (ip(7), IP_RECVERR).
  ///
  /// Each error carries the request that it concerns and its destination.
  func takeErrors() {
    for _ in 0..<Limits.echoErrors {
      guard unsafe csockets_receive_error(descriptor, incoming) == 0 else { return }
      guard let (head, peer) = packet(0, skipsHeader: false),
        head.type == (isIPv6 ? ICMPEchoPacket.request6 : ICMPEchoPacket.request4),
        pending[head.sequence]?.exchange.peer.address == peer.address, let request = pending.complete(head.sequence)
      else { continue }
      request.exchange.failed(.later(unsafe csockets_read_ancillary(incoming, 0).error))
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

extension PendingICMPEchoRequests.Request {
  /// The time from sending to arrival: the kernel's time stamp if it is between the two, else the time of reading.
  ///
  /// The time stamp excludes the delay of this thread, but the realtime clock may jump.
  func roundTrip(arrived: Int64, seen: MonotonicInstant) -> Duration {
    let ours = sent.duration(to: seen)
    let kernels = Duration.nanoseconds(arrived - sentRealtime)
    return arrived > 0 && kernels > .zero && kernels < ours ? kernels : ours
  }
}
