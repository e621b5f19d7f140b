internal import CSockets
internal import Glibc
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
      for index in 0..<count { take(Int32(index)) }
      if count < Int(CSOCKETS_BATCH) { return }
    }
  }

  /// A reply finds its request by its number; identifier, cookie and address must be right as well.
  private func take(_ index: Int32) {
    guard let (head, peer) = packet(index, skipsHeader: isRaw && !isIPv6) else { return }
    guard head.type == (isIPv6 ? EchoPacket.reply6 : EchoPacket.reply4), head.cookie == nil || head.cookie == cookie,
      let request = sent[head.sequence], request.peer.address.unmapped == peer.address
    else { return }
    sent[head.sequence] = nil
    let beside = unsafe csockets_look(incoming, index)
    request.exchange.received(
      request.roundTrip(arrived: beside.arrived), hopLimit: beside.hop_limit < 0 ? nil : Int(beside.hop_limit),
      own: unsafe withUnsafeBytes(of: beside.own) { unsafe IPAddress(octets: $0.prefix(Int(beside.own_length))) })
  }

  /// Errors on the way, told by ICMP or by a neighbour's silence (ip(7), IP_RECVERR): with the request that they are
  /// about, and to whom it went.
  func takeErrors() {
    for _ in 0..<Limits.echoErrors {
      guard unsafe csockets_receive_error(descriptor, incoming) == 0 else { return }
      guard let (head, peer) = packet(0, skipsHeader: false), let request = sent[head.sequence],
        head.type == (isIPv6 ? EchoPacket.request6 : EchoPacket.request4),
        request.peer.address.unmapped == peer.address
      else { continue }
      sent[head.sequence] = nil
      request.exchange.failed(.later(unsafe csockets_look(incoming, 0).error))
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

extension EchoSocket.Request {
  /// From the sending to the arrival: the kernel's time stamp if it lies between, else our own clock.
  ///
  /// The stamp does not count how long this thread took to look; the realtime clock may jump.
  func roundTrip(arrived: Int64) -> Duration {
    let ours = left.duration(to: .now)
    let kernels = Duration.nanoseconds(arrived - leftReal)
    return arrived > 0 && kernels > .zero && kernels < ours ? kernels : ours
  }
}
