internal import CAres
internal import CSockets
internal import Glibc
internal import Names
internal import ReachabilityModel

// Sending.
extension EchoSocket {
  /// Sends a request of the exchange with the next ``flush()``.
  func send(_ exchange: EchoExchange) { waiting.append(exchange) }

  /// Forgets what an exchange has under way.
  func forget(_ exchange: EchoExchange) {
    for sequence in exchange.sequences where flights[sequence]?.exchange === exchange { flights.land(sequence) }
  }

  /// Sends what is waiting, in batches, and takes replies in between: the receive buffer holds a few hundred.
  func flush() {
    var next = 0
    // What comes of a batch may let others wait.
    while next < waiting.count {
      let end = min(next + Int(CSOCKETS_BATCH), waiting.count)
      let unsent = dispatch(layOut(next..<end))
      next = end
      receive()
      guard unsent.isEmpty else {
        // The socket's buffer is full: they wait until there is room.
        waiting.replaceSubrange(..<next, with: unsent)
        loop.poller.watch(descriptor, reading: true, writing: true)
        return
      }
    }
    waiting.removeAll(keepingCapacity: waiting.count <= Limits.echoPlaces)
  }

  /// Lays out a batch; returns the sequence numbers of those that are still wanted.
  private func layOut(_ turn: Range<Int>) -> [UInt16] {
    var sequences: [UInt16] = []
    sequences.reserveCapacity(turn.count)
    let now = Instant.now
    for exchange in turn.map({ waiting[$0] }) where !exchange.hasEnded {
      guard let sequence = flights.depart(exchange, now) else {
        exchange.failed(.immediate(ENOBUFS))
        continue
      }
      let index = Int32(sequences.count)
      let room = unsafe UnsafeMutableRawBufferPointer(
        start: csockets_packet(outgoing, index), count: Int(CSOCKETS_PACKET))
      let length = unsafe EchoPacket.write(
        into: room, isIPv6: isIPv6, identifier: identifier, sequence: sequence, cookie: cookie,
        payload: exchange.payload)
      unsafe exchange.peer.withSocketAddress { unsafe csockets_address(outgoing, index, $0, $1, length) }
      setVantage(exchange, index)
      exchange.sequences.append(sequence)
      sequences.append(sequence)
    }
    return sequences
  }

  private func setVantage(_ exchange: EchoExchange, _ index: Int32) {
    guard exchange.interface != 0 || exchange.source != nil else { return }
    if let source = exchange.source?.unmapped.octets {
      unsafe csockets_vantage(outgoing, index, isIPv6 ? 1 : 0, exchange.interface, source)
    } else {
      unsafe csockets_vantage(outgoing, index, isIPv6 ? 1 : 0, exchange.interface, nil)
    }
  }

  /// Sends the batch; returns what the socket's buffer has no room for now.
  private func dispatch(_ sequences: [UInt16]) -> [EchoExchange] {
    var done = 0
    var tries = 0
    while done < sequences.count {
      let before = (Instant.now, Self.realTime)
      let went = Int(unsafe csockets_send(descriptor, outgoing, Int32(done), Int32(sequences.count - done)))
      let code = errno
      if went > 0 {
        note(sequences[done..<(done + went)], before)
        done += went
        tries = 0
      } else if code == EAGAIN {
        return sequences[done...].compactMap { flights.land($0)?.exchange }
      } else if code != EINTR {
        // It may be the error of an earlier packet to another target, which the socket owes to the next call.
        takeErrors()
        tries += 1
        guard tries == Limits.echoSendTries else { continue }
        flights.land(sequences[done])?.exchange.failed(.immediate(code))
        done += 1
        tries = 0
      }
    }
    return []
  }

  /// Notes when they left: evenly between the call's begin and end.
  private func note(_ sequences: ArraySlice<UInt16>, _ before: (Instant, Int64)) {
    let step = (Self.realTime - before.1) / Int64(sequences.count)
    for (offset, sequence) in sequences.enumerated() {
      let late = step * Int64(offset)
      flights.note(
        sequence, left: Instant(nanoseconds: before.0.nanoseconds + late), real: before.1 + late)
    }
  }

  /// CLOCK_REALTIME in nanoseconds, the clock of the kernel's time stamps.
  private static var realTime: Int64 {
    var moment = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &moment)
    return Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec)
  }
}
