internal import CAres
internal import CSockets
internal import Glibc
internal import ReachabilityModel

// Sending.
extension EchoSocket {
  /// Sends with the next ``flush()``.
  func send(_ request: Request) { waiting.append(request) }

  /// Forgets what an exchange has under way.
  func forget(_ exchange: EchoExchange) {
    for sequence in exchange.sequences where sent[sequence]?.exchange === exchange { sent[sequence] = nil }
  }

  /// Sends what is waiting, in batches, and takes replies in between: the receive buffer holds a few hundred.
  func flush() {
    while !waiting.isEmpty {
      let turn = waiting.prefix(Int(CSOCKETS_BATCH))
      waiting.removeFirst(turn.count)
      let unsent = dispatch(layOut(turn))
      receive()
      guard unsent.isEmpty else {
        // The socket's buffer is full: they wait until there is room.
        waiting.insert(contentsOf: unsent, at: 0)
        loop.poller.watch(descriptor, reading: true, writing: true)
        return
      }
    }
  }

  /// Lays out a batch; returns the sequence numbers of those that are still wanted.
  private func layOut(_ turn: ArraySlice<Request>) -> [UInt16] {
    var sequences: [UInt16] = []
    for request in turn where !request.exchange.hasEnded {
      guard let sequence = nextSequence() else {
        request.exchange.failed(.immediate(ENOBUFS))
        continue
      }
      let index = Int32(sequences.count)
      let room = unsafe UnsafeMutableRawBufferPointer(
        start: csockets_packet(outgoing, index), count: Int(CSOCKETS_PACKET))
      let length = unsafe EchoPacket.write(
        into: room, isIPv6: isIPv6, identifier: identifier, sequence: sequence, cookie: cookie,
        payload: request.payload)
      unsafe request.peer.withSocketAddress { unsafe csockets_address(outgoing, index, $0, $1, length) }
      setVantage(request, index)
      request.exchange.sequences.append(sequence)
      sent[sequence] = request
      sequences.append(sequence)
    }
    return sequences
  }

  private func setVantage(_ request: Request, _ index: Int32) {
    guard request.interface != 0 || request.source != nil else { return }
    if let source = request.source?.unmapped.octets {
      unsafe csockets_vantage(outgoing, index, isIPv6 ? 1 : 0, request.interface, source)
    } else {
      unsafe csockets_vantage(outgoing, index, isIPv6 ? 1 : 0, request.interface, nil)
    }
  }

  private func nextSequence() -> UInt16? {
    guard sent.count < Limits.echoesOpen else { return nil }
    repeat { lastSequence &+= 1 } while sent[lastSequence] != nil
    return lastSequence
  }

  /// Sends the batch; returns what the socket's buffer has no room for now.
  private func dispatch(_ sequences: [UInt16]) -> [Request] {
    var done = 0
    var tries = 0
    while done < sequences.count {
      let before = (SuspendingClock.Instant.now, Self.realTime)
      let went = Int(unsafe csockets_send(descriptor, outgoing, Int32(done), Int32(sequences.count - done)))
      let code = errno
      if went > 0 {
        note(sequences[done..<(done + went)], before)
        done += went
        tries = 0
      } else if code == EAGAIN {
        return sequences[done...].compactMap { sent.removeValue(forKey: $0) }
      } else if code != EINTR {
        // It may be the error of an earlier packet to another target, which the socket owes to the next call.
        takeErrors()
        tries += 1
        guard tries == Limits.echoSendTries else { continue }
        sent.removeValue(forKey: sequences[done])?.exchange.failed(.immediate(code))
        done += 1
        tries = 0
      }
    }
    return []
  }

  /// Notes when they left: evenly between the call's begin and end.
  private func note(_ sequences: ArraySlice<UInt16>, _ before: (SuspendingClock.Instant, Int64)) {
    let step = (Self.realTime - before.1) / Int64(sequences.count)
    for (offset, sequence) in sequences.enumerated() {
      let late = step * Int64(offset)
      sent[sequence]?.left = before.0.advanced(by: .nanoseconds(late))
      sent[sequence]?.leftReal = before.1 + late
    }
  }

  /// CLOCK_REALTIME in nanoseconds, the clock of the kernel's time stamps.
  private static var realTime: Int64 {
    var moment = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &moment)
    return Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec)
  }
}
