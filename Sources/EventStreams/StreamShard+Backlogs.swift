internal import EventLoop

/// Streams that are behind: each reads the logs with its own cursors until it reaches the shard's position.
extension StreamShard {
  /// Sends a stream what it misses, until its socket is full or it reaches the shard's position.
  func catchUp(_ number: Int32) {
    guard var backlog = backlogs[number] else { return }
    let feeds = feeds(number)
    unsafe withUnsafeTemporaryAllocation(byteCount: Limits.streamPiece, alignment: 16) { buffer in
      while true {
        switch unsafe step(number, &backlog, feeds, buffer) {
        case .goesOn: continue
        case .waits: backlogs[number] = backlog
        case .isCurrent:
          slots[number].isBehind = false
          backlogs[number] = nil
        case .ended: finish(number)
        case .lapped: dropLagging(number)
        case .needsPiece(let history):
          backlog.awaitsPiece = true
          backlogs[number] = backlog
          requestPiece(history, for: number)
        case .gone:
          counters.gone.increment()
          drop(number)
        }
        return
      }
    }
  }

  private enum Step {
    case goesOn, waits, isCurrent, ended, lapped, gone
    case needsPiece(any StreamHistory)
  }

  private func step(
    _ number: Int32, _ backlog: inout StreamBacklog, _ feeds: [StreamChannel], _ buffer: UnsafeMutableRawBufferPointer
  ) -> Step {
    if !backlog.outbox.isEmpty { return sendOutbox(number, &backlog) }
    if let history = backlog.history {
      // Nothing follows the part of the history that was sent but the close event: the client resumes after it.
      if closeEvent != nil { return close(&backlog) }
      return backlog.awaitsPiece ? .waits : .needsPiece(history)
    }
    // An entry that was sent in part is continued first, in either log.
    let half = backlog.cursors.firstIndex { $0.offset > 0 }
    for index in half.map({ $0..<$0 + 1 }) ?? feeds.indices {
      let (source, selection) = (feeds[index].source, feeds[index].selection)
      var ahead = backlog.cursors[index]
      switch unsafe source.log.readChunks(&ahead, selection, before: source.cursor.index, into: buffer) {
      case .lapped: return .lapped
      case .empty: backlog.cursors[index] = ahead
      case .bytes(let count, _):
        switch unsafe take(number, &backlog, UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
        case .all:
          backlog.cursors[index] = ahead
          return .goesOn
        case .part(let sent):
          guard source.log.skipChunks(&backlog.cursors[index], selection, count: sent) else { return .lapped }
          return .waits
        case .gone: return .gone
        }
      }
    }
    return close(&backlog)
  }

  /// Adds the close event and the end of the body after everything else, if the streams end.
  private func close(_ backlog: inout StreamBacklog) -> Step {
    guard let closeEvent else { return .isCurrent }
    if backlog.hasCloseEvent { return .ended }
    backlog.hasCloseEvent = true
    backlog.outbox = ChunkedCoding.chunk(closeEvent) + ChunkedCoding.end
    counters.bytes.add(backlog.outbox.count)
    return .goesOn
  }

  // MARK: - History

  private func requestPiece(_ history: any StreamHistory, for number: Int32) {
    let generation = slots[number].generation
    history.readNext { [inbox] piece in inbox.post(.piece(piece, number, generation: generation)) }
  }

  /// Sends a piece of a stream's history.
  func add(_ piece: StreamPiece, to number: Int32, _ generation: UInt32) {
    guard slots[number].descriptor >= 0, slots[number].generation == generation, var backlog = backlogs[number],
      backlog.history != nil
    else { return }
    backlog.awaitsPiece = false
    let bytes: [UInt8]
    switch piece {
    case .more(let frames): bytes = ChunkedCoding.chunk(frames)
    case .last(let frames, let cursor):
      bytes = ChunkedCoding.chunk(frames)
      backlog.cursors[0] = cursor
      backlog.lagLimit += channels[slots[number].first]?.source.log.lag(of: cursor) ?? 0
      backlog.history = nil
    case .unavailable: return end(number)
    }
    counters.bytes.add(bytes.count)
    backlog.outbox += bytes
    // The client has waited for the store, and not the store for the client.
    note(number, &backlog)
    backlogs[number] = backlog
    catchUp(number)
  }

  /// Whether a stream's client takes no byte of its history.
  func isHistoryStalled(_ number: Int32) -> Bool {
    backlogs[number].map { $0.history != nil && !$0.awaitsPiece } ?? false
  }

  private func sendOutbox(_ number: Int32, _ backlog: inout StreamBacklog) -> Step {
    let sent = unsafe backlog.outbox[backlog.outboxSent...].withUnsafeBytes {
      unsafe StreamSocket.send(slots[number].descriptor, $0)
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
      return backlog.hasCloseEvent ? .ended : .goesOn
    }
  }

  private func take(
    _ number: Int32, _ backlog: inout StreamBacklog, _ bytes: UnsafeRawBufferPointer
  ) -> StreamSocket.Sent {
    let sent = unsafe StreamSocket.send(slots[number].descriptor, bytes)
    let count =
      switch sent {
      case .all: bytes.count
      case .part(let count): count
      case .gone: 0
      }
    if count > 0 { note(number, &backlog) }
    counters.bytes.add(count)
    return sent
  }

  /// Records that the reader has taken bytes.
  private func note(_ number: Int32, _ backlog: inout StreamBacklog) {
    backlog.lastTaken = now
    slots[number].lastWrite = tick
  }

  /// Disconnects the streams that take no byte for the longest time, until only `count` of them are left.
  func limitStalled(to count: Int) {
    let stall = Limits.stalledStream.nanoseconds
    let stalled = backlogs.filter { now > $0.value.lastTaken.advanced(byNanoseconds: stall) && !$0.value.awaitsPiece }
    guard stalled.count > count else { return }
    let oldest = stalled.sorted { $0.value.lastTaken < $1.value.lastTaken }.prefix(stalled.count - count)
    for (number, _) in oldest { dropLagging(number) }
  }

  /// Disconnects the streams that take no bytes while the logs grow.
  func cutLaggingStreams() {
    let stall = Limits.streamStall.nanoseconds
    for (number, backlog) in backlogs
    where backlog.history == nil && now > backlog.lastTaken.advanced(byNanoseconds: stall) {
      let lags = zip(feeds(number), backlog.cursors).map { $0.source.log.lag(of: $1) }
      if lags.contains(nil) || lags.reduce(0, { $0 + ($1 ?? 0) }) > backlog.lagLimit { dropLagging(number) }
    }
  }
}
