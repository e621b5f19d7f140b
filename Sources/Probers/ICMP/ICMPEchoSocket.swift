internal import CSockets
internal import EventLoop
internal import Glibc

/// The one ICMP socket of a family, for all targets.
///
/// Requests are sent and replies received in batches, and the sequence number assigns each reply to its request.
final class ICMPEchoSocket: ProberDescriptorHandler {
  private let packets: ICMPEchoPackets
  private unowned let descriptors: ProberDescriptors
  /// The exchanges that send next, one entry for each request.
  private var waiting: [ICMPEchoSequence] = []
  private var pending = PendingICMPEchoRequests()

  init(_ packets: ICMPEchoPackets, _ descriptors: ProberDescriptors) {
    (self.packets, self.descriptors) = (packets, descriptors)
    descriptors.register(packets.descriptor, self)
    descriptors.set(packets.descriptor, .readable)
  }

  func ready(_ event: Poller.Event) {
    if event.isReadable { receive() }
    if event.isWritable {
      descriptors.set(packets.descriptor, .readable)
      flush()
    }
  }

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
        descriptors.set(packets.descriptor, [.readable, .writable])
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
      packets.encode(exchange.destination, sequence, at: sequences.count)
      exchange.sequences.append(sequence)
      sequences.append(sequence)
    }
    return sequences
  }

  /// Sends the batch; returns the requests for which the socket's buffer has no space.
  private func sendBatch(_ sequences: [UInt16]) -> [ICMPEchoSequence] {
    var done = 0
    var tries = 0
    while done < sequences.count {
      let before = (MonotonicInstant.now, SystemClock.realtime)
      let went = packets.send(done..<sequences.count)
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

  private func receive() {
    for _ in 0..<Limits.echoBatches {
      let count = packets.receive()
      if count < 0 {
        if errno == EAGAIN { return }
        // A pending socket error must be read before further replies can be received.
        takeErrors()
        continue
      }
      let now = MonotonicInstant.now
      for index in 0..<count { take(index, now) }
      if count < Int(CSOCKETS_BATCH) { return }
    }
  }

  /// Assigns a reply to its request by its sequence number; identifier, cookie and address must match too.
  private func take(_ index: Int, _ now: MonotonicInstant) {
    guard let reply = packets.reply(at: index), let asked = pending[reply.head.sequence]?.exchange,
      asked.peer.address == reply.peer.address, packets.isAuthentic(reply.head, payload: asked.payload),
      let request = pending.complete(reply.head.sequence)
    else { return }
    request.exchange.received(
      request.roundTrip(arrived: reply.arrived, seen: now), hopLimit: reply.hopLimit, local: reply.local)
  }

  /// Ends the requests that errors concern.
  private func takeErrors() {
    packets.takeErrors { sequence, peer, code in
      guard pending[sequence]?.exchange.peer.address == peer.address, let request = pending.complete(sequence)
      else { return }
      request.exchange.failed(.later(code))
    }
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
