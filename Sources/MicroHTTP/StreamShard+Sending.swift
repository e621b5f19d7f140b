internal import CMicroHTTPD
internal import Glibc

/// Bytes to sockets.
extension StreamShard {
  /// What a socket did with bytes.
  enum Sent {
    case all
    case part(Int)
    /// The client is gone.
    case gone
  }

  func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Sent {
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    if count == bytes.count { return .all }
    if count >= 0 { return .part(count) }
    return errno == EAGAIN || errno == EINTR ? .part(0) : .gone
  }

  // MARK: - News

  /// Hands out what the logs have got: one copy for all, one `send` for each.
  func distribute() {
    for source in Array(sources.values) {
      while true {
        batch.clear()
        let before = source.cursor
        guard source.log.collect(&source.cursor, into: &batch) else {
          // The whole ring was written since the last pass.
          lapped(source)
          break
        }
        if batch.isEmpty { break }
        hand(source, before)
      }
    }
    cutLaggards()
  }

  /// Everybody on this log has missed something.
  private func lapped(_ source: StreamSource) {
    source.cursor = source.log.end
    for number in 0..<Int32(slots.used) where slots[number].descriptor >= 0 {
      if feeds(number).contains(where: { $0.source === source }) { cut(number) }
    }
  }

  private func hand(_ source: StreamSource, _ before: EventLog.Cursor) {
    let candidates = source.candidates(for: batch)
    for number in candidates {
      unsafe outgoing[Int(number)] =
        channels[Int(number)]?.choose(from: batch) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
    // Decided in a first sweep over plain memory; what did not go well is looked at after it.
    var failed: [(number: Int32, channel: Int32, sent: Sent)] = []
    var bytes = 0
    let tick = tick
    unsafe outgoing.withUnsafeBufferPointer { outgoing in
      let table = unsafe slots.slots
      for index in 0..<slots.used {
        let slot = unsafe table[index]
        guard slot.descriptor >= 0, !slot.isBehind else { continue }
        var channel = slot.first
        if unsafe outgoing[Int(channel)].isEmpty { channel = slot.second }
        let news = unsafe outgoing[Int(channel)]
        guard unsafe !news.isEmpty else { continue }
        let sent = unsafe send(slot.descriptor, news)
        if case .all = sent {
          bytes += news.count
          unsafe table[index].lastWrite = tick
        } else {
          failed.append((Int32(index), channel, sent))
        }
      }
    }
    counters.bodyBytes.add(bytes)
    for (number, channel, sent) in failed { handle(number, channel, sent, before) }
    for number in candidates { unsafe outgoing[Int(number)] = UnsafeRawBufferPointer(start: nil, count: 0) }
  }

  private func handle(_ number: Int32, _ channel: Int32, _ sent: Sent, _ before: EventLog.Cursor) {
    guard case .part(let count) = sent, let channel = channels[Int(channel)] else {
      counters.streamsGone.increment()
      return drop(number)
    }
    counters.bodyBytes.add(count)
    var place = before
    let marks = channel.gathered.isEmpty ? batch.marks : channel.gathered.marks
    if let mark = marks.first(where: { count < $0.start + $0.length }) {
      place.index = mark.index
      place.offset = count - mark.start
    }
    fallBehind(number, channel.source, at: place)
    if count > 0 { slots[number].lastWrite = tick }
  }

  // MARK: - Backlogs

  /// From now on a stream goes at its own pace: in one log from a place, in others from where all stand.
  func fallBehind(_ number: Int32, _ source: StreamSource? = nil, at place: EventLog.Cursor? = nil) {
    let cursors = feeds(number).map { channel in
      if let place, channel.source === source { return place }
      return channel.source.cursor
    }
    slots[number].isBehind = true
    backlogs[number] = Backlog(cursors: cursors, lagLimit: lagLimit, lastTaken: now)
  }

  /// Sends a stream what it is missing, until its socket is full or it stands where all stand.
  func catchUp(_ number: Int32) {
    guard var backlog = backlogs[number] else { return }
    let feeds = feeds(number)
    unsafe withUnsafeTemporaryAllocation(byteCount: Limits.streamPiece, alignment: 16) { buffer in
      while true {
        switch unsafe step(number, &backlog, feeds, buffer) {
        case .goesOn: continue
        case .waits: backlogs[number] = backlog
        case .stands:
          slots[number].isBehind = false
          backlogs[number] = nil
        case .ended: finish(number)
        case .lapped: cut(number)
        case .gone:
          counters.streamsGone.increment()
          drop(number)
        }
        return
      }
    }
  }

  private enum Step { case goesOn, waits, stands, ended, lapped, gone }

  private func step(
    _ number: Int32, _ backlog: inout Backlog, _ feeds: [StreamChannel], _ buffer: UnsafeMutableRawBufferPointer
  ) -> Step {
    if !backlog.outbox.isEmpty { return sendOutbox(number, &backlog) }
    // An entry that is half sent goes first, whichever log it is in.
    let half = backlog.cursors.firstIndex { $0.offset > 0 }
    for index in half.map({ $0..<$0 + 1 }) ?? feeds.indices {
      let (source, selection) = (feeds[index].source, feeds[index].selection)
      var ahead = backlog.cursors[index]
      switch unsafe source.log.read(&ahead, selection, before: source.cursor.index, into: buffer) {
      case .lapped: return .lapped
      case .empty: backlog.cursors[index] = ahead
      case .bytes(let count, _):
        switch unsafe take(number, &backlog, UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
        case .all:
          backlog.cursors[index] = ahead
          return .goesOn
        case .part(let sent):
          guard source.log.skip(&backlog.cursors[index], selection, count: sent) else { return .lapped }
          return .waits
        case .gone: return .gone
        }
      }
    }
    guard let farewell else { return .stands }
    if backlog.hasFarewell || farewell.isEmpty { return .ended }
    backlog.hasFarewell = true
    counters.bodyBytes.add(farewell.count)
    backlog.outbox = farewell
    return .goesOn
  }

  private func sendOutbox(_ number: Int32, _ backlog: inout Backlog) -> Step {
    let sent = unsafe backlog.outbox[backlog.outboxSent...].withUnsafeBytes {
      unsafe send(slots[number].descriptor, $0)
    }
    switch sent {
    case .gone: return .gone
    case .part(let count):
      backlog.outboxSent += count
      if count > 0 { note(number, &backlog) }
      return .waits
    case .all:
      note(number, &backlog)
      backlog.outbox = []
      backlog.outboxSent = 0
      return backlog.hasFarewell ? .ended : .goesOn
    }
  }

  private func take(_ number: Int32, _ backlog: inout Backlog, _ bytes: UnsafeRawBufferPointer) -> Sent {
    let sent = unsafe send(slots[number].descriptor, bytes)
    let count =
      switch sent {
      case .all: bytes.count
      case .part(let count): count
      case .gone: 0
      }
    if count > 0 { note(number, &backlog) }
    counters.bodyBytes.add(count)
    return sent
  }

  /// Its reader lives.
  private func note(_ number: Int32, _ backlog: inout Backlog) {
    backlog.lastTaken = now
    slots[number].lastWrite = tick
  }

  /// Cuts those that take nothing while the logs go on.
  private func cutLaggards() {
    for (number, backlog) in backlogs where now > backlog.lastTaken + Limits.streamStall.nanoseconds {
      let lags = zip(feeds(number), backlog.cursors).map { $0.source.log.lag(of: $1) }
      if lags.contains(nil) || lags.reduce(0, { $0 + ($1 ?? 0) }) > backlog.lagLimit { cut(number) }
    }
  }

  // MARK: - Silence

  /// A stream's turn on the wheel: a heartbeat when it is due, and the next turn.
  func checkHeartbeat(_ number: Int32) {
    let interval = interval(number)
    let due = slots[number].lastWrite + interval
    // Bytes are under way to who is behind; breaking in would be neither needed nor safe.
    guard due <= tick, !slots[number].isBehind else { return slots.plan(number, max(due, tick + 1)) }
    slots.plan(number, tick + interval)
    guard let beat = channels[Int(slots[number].first)]?.heartbeat, !beat.isEmpty else { return }
    slots[number].lastWrite = tick
    switch unsafe beat.withUnsafeBytes({ unsafe send(slots[number].descriptor, $0) }) {
    case .all: counters.bodyBytes.add(beat.count)
    case .part(let count):
      fallBehind(number)
      // A heartbeat that did not go at all is not owed.
      guard count > 0 else { return }
      counters.bodyBytes.add(beat.count)
      backlogs[number]?.outbox = beat
      backlogs[number]?.outboxSent = count
    case .gone:
      counters.streamsGone.increment()
      drop(number)
    }
  }
}
