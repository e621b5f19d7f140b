internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

// Receiving.
extension EchoSocket {
  func receive() {
    for _ in 0..<Limits.echoBatches {
      let count = Int(unsafe csockets_receive(descriptor, incoming))
      if count < 0 {
        if errno == EAGAIN { return }
        // An error that the socket owes: what is to be read stands behind it.
        takeErrors()
        continue
      }
      let now = MonotonicInstant.now
      for index in 0..<count { take(Int32(index), now) }
      if count < Int(CSOCKETS_BATCH) { return }
    }
  }

  /// A reply finds its request by its number; identifier, cookie and address must be right as well.
  private func take(_ index: Int32, _ now: MonotonicInstant) {
    guard let (head, peer) = packet(index, skipsHeader: isRaw && !isIPv6) else { return }
    guard head.type == (isIPv6 ? EchoPacket.reply6 : EchoPacket.reply4),
      let asked = pending[head.sequence]?.exchange, asked.peer.address == peer.address
    else { return }
    // What was sent must come back (RFC 792); a request that had no room for the cookie proves less.
    guard head.cookie == cookie || head.cookie == nil && asked.payload < EchoPacket.cookieBytes,
      let request = pending.complete(head.sequence)
    else { return }
    let ancillary = unsafe csockets_read_ancillary(incoming, index)
    request.exchange.received(
      request.roundTrip(arrived: ancillary.arrived, seen: now),
      hopLimit: ancillary.hop_limit < 0 ? nil : Int(ancillary.hop_limit), local: Self.local(ancillary))
  }

  /// The own address that a packet came to.
  private static func local(_ ancillary: csockets_ancillary) -> IPAddress? {
    unsafe withUnsafeBytes(of: ancillary.local) { octets in
      switch ancillary.local_length {
      case 4: unsafe IPAddress(ipv4: UInt32(bigEndian: octets.loadUnaligned(as: UInt32.self)))
      case 16: unsafe IPAddress(ipv6Octets: octets)
      default: nil
      }
    }
  }

  /// Errors on the way, told by ICMP or by a neighbour's silence (ip(7), IP_RECVERR): with the request that they are
  /// about, and to whom it went.
  func takeErrors() {
    for _ in 0..<Limits.echoErrors {
      guard unsafe csockets_receive_error(descriptor, incoming) == 0 else { return }
      guard let (head, peer) = packet(0, skipsHeader: false),
        head.type == (isIPv6 ? EchoPacket.request6 : EchoPacket.request4),
        pending[head.sequence]?.exchange.peer.address == peer.address, let request = pending.complete(head.sequence)
      else { continue }
      request.exchange.failed(.later(unsafe csockets_read_ancillary(incoming, 0).error))
    }
  }

  private func packet(_ index: Int32, skipsHeader: Bool) -> (EchoPacket.Head, Peer)? {
    let bytes = unsafe UnsafeRawBufferPointer(
      start: csockets_packet(incoming, index),
      count: Int(min(csockets_length(incoming, index), UInt32(CSOCKETS_PACKET))))
    guard let head = unsafe EchoPacket.read(bytes, skipsHeader: skipsHeader),
      !isRaw || head.identifier == identifier,
      let name = unsafe csockets_name(incoming, index),
      let peer = unsafe Peer(name, length: Int(csockets_name_length(incoming, index)))
    else { return nil }
    return (head, peer)
  }
}

extension PendingEchoRequests.Request {
  /// From the sending to the arrival: the kernel's time stamp if it lies between, else when this thread saw it.
  ///
  /// The stamp does not count how long this thread took to look; the realtime clock may jump.
  func roundTrip(arrived: Int64, seen: MonotonicInstant) -> Duration {
    let ours = sent.duration(to: seen)
    let kernels = Duration.nanoseconds(arrived - sentRealtime)
    return arrived > 0 && kernels > .zero && kernels < ours ? kernels : ours
  }
}
