internal import Glibc

extension StreamShard {
  // MARK: - New entries

  /// Distributes the new entries of the logs: one copy for all streams, one `send` for each.
  func distribute() {
    for source in channels.allSources {
      while true {
        batch.clear()
        let before = source.cursor
        guard source.log.collect(&source.cursor, into: &batch) else {
          // The whole ring was overwritten since the last pass.
          lapped(source)
          break
        }
        if batch.isEmpty { break }
        deliver(source, before)
      }
    }
    cutLaggingStreams()
  }

  /// Handles a lapped log: all streams of the log have missed entries.
  private func lapped(_ source: StreamSource) {
    source.cursor = source.log.end
    for number in 0..<Int32(slots.used) where slots[number].descriptor >= 0 {
      guard backlogs[number]?.history == nil else { continue }
      if feeds(number).contains(where: { $0.source === source }) { dropLagging(number) }
    }
  }

  private func deliver(_ source: StreamSource, _ before: EventLog.Cursor) {
    let candidates = source.candidates(for: batch)
    for number in candidates {
      unsafe channels.outgoing[Int(number)] =
        channels[number]?.choose(from: batch) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
    // This pass reads plain memory only; sends that were incomplete or failed are handled after it.
    var failed: [(number: Int32, channel: Int32, sent: StreamSocket.Sent)] = []
    var bytes = 0
    let tick = tick
    unsafe channels.outgoing.withUnsafeBufferPointer { outgoing in
      let table = unsafe slots.slots
      for index in 0..<slots.used {
        let slot = unsafe table[index]
        guard slot.descriptor >= 0, !slot.isBehind else { continue }
        var channel = slot.first
        if unsafe outgoing[Int(channel)].isEmpty { channel = slot.second }
        let news = unsafe outgoing[Int(channel)]
        guard unsafe !news.isEmpty else { continue }
        let sent = unsafe StreamSocket.send(slot.descriptor, news)
        if case .all = sent {
          bytes += news.count
          unsafe table[index].lastWrite = tick
        } else {
          failed.append((Int32(index), channel, sent))
        }
      }
    }
    counters.bytes.add(bytes)
    for (number, channel, sent) in failed { handle(number, channel, sent, before) }
    for number in candidates {
      unsafe channels.outgoing[Int(number)] = UnsafeRawBufferPointer(start: nil, count: 0)
      channels[number]?.releaseBuffer()
    }
  }

  private func handle(_ number: Int32, _ channel: Int32, _ sent: StreamSocket.Sent, _ before: EventLog.Cursor) {
    guard case .part(let count) = sent, let channel = channels[channel] else {
      counters.gone.increment()
      return drop(number)
    }
    counters.bytes.add(count)
    var place = before
    let marks = channel.gathered.isEmpty ? batch.marks : channel.gathered.marks
    if let mark = marks.first(where: { count < $0.start + $0.length }) {
      place.index = mark.index
      place.offset = count - mark.start
    }
    fallBehind(number, channel.source, at: place)
    if count > 0 { slots[number].lastWrite = tick }
  }

  // MARK: - Channels

  func feeds(_ number: Int32) -> [StreamChannel] {
    [slots[number].first, slots[number].second].compactMap { channels[$0] }
  }

  func interval(_ number: Int32) -> UInt32 {
    channels[slots[number].first]?.interval ?? StreamSlots.span
  }

  // MARK: - Heartbeats

  /// Handles a stream whose timer has expired: sends a heartbeat if one is due, and schedules the next check.
  func checkHeartbeat(_ number: Int32) {
    let interval = interval(number)
    let due = slots[number].lastWrite + interval
    // Few histories are read at a time: a client that takes nothing must not delay the others.
    if due <= tick, isHistoryStalled(number) { return dropLagging(number) }
    guard due <= tick else { return slots.plan(number, due) }
    slots.plan(number, tick + interval)
    // A stream that is behind is sending, unless it waits for its history: a heartbeat in between is neither needed nor safe.
    guard backlogs[number]?.isIdle ?? true, let channel = channels[slots[number].first] else { return }
    let beat = slots[number].isBehind ? channel.plainHeartbeat : channel.heartbeat
    guard !beat.isEmpty else { return }
    slots[number].lastWrite = tick
    switch unsafe beat.withUnsafeBytes({ unsafe StreamSocket.send(slots[number].descriptor, $0) }) {
    case .all: counters.bytes.add(beat.count)
    case .part(let count):
      if !slots[number].isBehind { fallBehind(number) }
      // A heartbeat of which no byte was sent is dropped.
      guard count > 0 else { return }
      counters.bytes.add(beat.count)
      backlogs[number]?.outbox = beat
      backlogs[number]?.outboxSent = count
    case .gone:
      counters.gone.increment()
      drop(number)
    }
  }

  // MARK: - Ends of streams

  /// Ends the body and closes a stream, between two chunks: as after a client has closed its sending side, but reads on.
  func end(_ number: Int32) {
    unsafe ChunkedCoding.end.withUnsafeBytes { _ = unsafe StreamSocket.send(slots[number].descriptor, $0) }
    finish(number)
  }

  /// Closes a stream with an orderly shutdown.
  func finish(_ number: Int32) {
    StreamSocket.discard(slots[number].descriptor)
    shutdown(slots[number].descriptor, Int32(SHUT_WR))
    drop(number)
  }

  /// Disconnects a subscriber that was too slow, and discards what the kernel has for it: it resumes after its last event.
  func dropLagging(_ number: Int32) {
    counters.lagged.increment()
    StreamSocket.discardUnsent(slots[number].descriptor)
    drop(number)
  }
}
