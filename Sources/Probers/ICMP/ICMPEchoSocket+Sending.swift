internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

// Sending.
extension ICMPEchoSocket {
  /// Sends a request of the exchange at the next ``flush()``.
  func send(_ exchange: ICMPEchoSequence) { waiting.append(exchange) }

  /// Removes the pending requests of an exchange.
  func forget(_ exchange: ICMPEchoSequence) {
    for sequence in exchange.sequences where pending[sequence]?.exchange === exchange { pending.complete(sequence) }
  }

  /// Sends queued requests in batches, and receives replies in between: the receive buffer holds a few hundred.
  func flush() {
    var next = 0
    // Handling a batch may add requests to the queue.
    while next < waiting.count {
      let end = min(next + Int(CSOCKETS_BATCH), waiting.count)
      let unsent = sendBatch(fillBatch(next..<end))
      next = end
      receive()
      guard unsent.isEmpty else {
        // The socket's send buffer is full: they wait until it has space.
        waiting.replaceSubrange(..<next, with: unsent)
        watch([.readable, .writable])
        return
      }
    }
    waiting.removeAll(keepingCapacity: waiting.count <= Limits.echoSlots)
  }

  /// Encodes a batch; returns the sequence numbers of the requests that are still needed.
  private func fillBatch(_ turn: Range<Int>) -> [UInt16] {
    var sequences: [UInt16] = []
    sequences.reserveCapacity(turn.count)
    let now = MonotonicInstant.now
    for exchange in turn.map({ waiting[$0] }) where !exchange.hasEnded {
      guard let sequence = pending.add(exchange, now) else {
        exchange.failed(.immediate(ENOBUFS))
        continue
      }
      let index = Int32(sequences.count)
      let buffer = unsafe UnsafeMutableRawBufferPointer(
        start: csockets_packet(outgoing, index), count: Int(CSOCKETS_PACKET))
      let length = unsafe ICMPEchoPacket.write(
        into: buffer, isIPv6: isIPv6, identifier: identifier, sequence: sequence, cookie: cookie,
        payload: exchange.payload)
      unsafe exchange.peer.withSocketAddress { unsafe csockets_prepare_send(outgoing, index, $0, $1, length) }
      setPacketInfo(exchange, index)
      exchange.sequences.append(sequence)
      sequences.append(sequence)
    }
    return sequences
  }

  private func setPacketInfo(_ exchange: ICMPEchoSequence, _ index: Int32) {
    guard exchange.interface != 0 || exchange.source != nil else { return }
    if let source = exchange.source?.unmapped.octets {
      unsafe csockets_set_pktinfo(outgoing, index, isIPv6 ? 1 : 0, exchange.interface, source)
    } else {
      unsafe csockets_set_pktinfo(outgoing, index, isIPv6 ? 1 : 0, exchange.interface, nil)
    }
  }

  /// Sends the batch; returns the requests for which the socket's buffer has no space.
  private func sendBatch(_ sequences: [UInt16]) -> [ICMPEchoSequence] {
    var done = 0
    var tries = 0
    while done < sequences.count {
      let before = (MonotonicInstant.now, SystemClock.realtime)
      let went = Int(unsafe csockets_send(descriptor, outgoing, Int32(done), Int32(sequences.count - done)))
      let code = errno
      if went > 0 {
        note(sequences[done..<(done + went)], before)
        done += went
        tries = 0
      } else if code == EAGAIN {
        return sequences[done...].compactMap { pending.complete($0)?.exchange }
      } else if code != EINTR {
        // This may be the error of an earlier packet to another target, which the kernel reports with the next call.
        takeErrors()
        tries += 1
        guard tries == Limits.echoSendTries else { continue }
        pending.complete(sequences[done])?.exchange.failed(.immediate(code))
        done += 1
        tries = 0
      }
    }
    return []
  }

  /// Records the send times: evenly between the begin and end of the call, by the clock of the kernel's time stamps.
  private func note(_ sequences: ArraySlice<UInt16>, _ before: (MonotonicInstant, Int64)) {
    let step = (SystemClock.realtime - before.1) / Int64(sequences.count)
    for (offset, sequence) in sequences.enumerated() {
      let late = step * Int64(offset)
      pending.setSent(
        sequence, MonotonicInstant(nanoseconds: before.0.nanoseconds + late), realtime: before.1 + late)
    }
  }
}
