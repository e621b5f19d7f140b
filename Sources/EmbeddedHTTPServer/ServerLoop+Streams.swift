internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// Streams: each follows a log, suspended whenever it has nothing to send.
extension ServerLoop {
  /// What a stream gives to libmicrohttpd.
  enum Piece {
    case bytes(Int)
    /// Nothing now; the connection is suspended.
    case nothing
    case end
    case broken
  }

  func beginStream(_ connection: Connection, _ stream: HTTPStream) {
    connection.phase = .streaming
    // A stop does not wait for what has no end.
    if stream.endsAfter == nil { finishRequest(connection) }
    connection.stream = StreamState(
      stream, isChunked: connection.request?.version != "HTTP/1.0", now: now, lagLimit: configuration.streamLag)
    streaming[connection.token] = connection
    // An answer that comes in pieces has an end, and is counted as what it is.
    if stream.endsAfter == nil {
      counters.streams.increment()
      counters.streamsOpened.increment()
    }
    ListeningSocket.set(connection.descriptor, SOL_SOCKET, SO_SNDBUF, Limits.streamSendBuffer)
    for feed in stream.feeds { follow(feed.log) }
    planHeartbeat(connection, now + stream.heartbeat.interval.nanoseconds)
  }

  func endStream(_ connection: Connection) {
    guard let stream = connection.stream else { return }
    connection.stream = nil
    streaming[connection.token] = nil
    if stream.stream.endsAfter == nil { counters.streams.decrement() }
    for feed in stream.stream.feeds { unfollow(feed.log) }
  }

  /// libmicrohttpd asks for a stream's next bytes.
  func fill(_ connection: Connection, _ buffer: UnsafeMutableRawBufferPointer) -> Piece {
    guard !connection.isDisconnected, !isStopping, connection.stream != nil else { return .broken }
    var count = unsafe takeOutbox(connection, buffer)
    switch unsafe readLog(connection, UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) {
    case .bytes(let read, _): count += read
    case .empty: break
    case .lapped:
      counters.streamsLagged.increment()
      return .broken
    }
    if count == 0, let stream = connection.stream, let end = stream.stream.endsAfter, stream.cursors[0].lastID >= end {
      stream.stream.abandonment?.markComplete()
      return .end
    }
    // A farewell is no part of an answer that has an end of its own; that one has the time of the grace.
    if count == 0, let closeEvent, connection.stream?.stream.endsAfter == nil {
      guard connection.stream?.hasCloseEvent == false else { return .end }
      connection.stream?.hasCloseEvent = true
      connection.stream?.outbox = closeEvent
      connection.stream?.outboxSent = 0
      count = unsafe takeOutbox(connection, buffer)
      if count == 0 { return .end }
    }
    guard count > 0 else {
      suspend(connection)
      return .nothing
    }
    connection.stream?.lastWrite = now
    counters.bodyBytes.add(count)
    return .bytes(count)
  }

  /// Has libmicrohttpd look at a connection whose stream ends, in its next turn.
  ///
  /// 0.9.75 closes such a connection and then forgets to clean it up: it stays open until it is the oldest of all that
  /// share the default timeout. Connections with a timeout of their own are looked at in every turn.
  func keepPolled(_ connection: Connection) {
    needsTurn = true
    guard !connection.isPolledByLibrary else { return }
    connection.isPolledByLibrary = true
    unsafe CMicroHTTPD_set_timeout(connection.handle, inactivitySeconds + 1)
  }

  /// The connection goes on after its stream.
  func stopPolling(_ connection: Connection) {
    guard connection.isPolledByLibrary else { return }
    connection.isPolledByLibrary = false
    unsafe CMicroHTTPD_set_timeout(connection.handle, inactivitySeconds)
  }

  private func takeOutbox(_ connection: Connection, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let stream = connection.stream, !stream.outbox.isEmpty else { return 0 }
    let count = min(buffer.count, stream.outbox.count - stream.outboxSent)
    unsafe buffer.copyBytes(from: stream.outbox[stream.outboxSent..<stream.outboxSent + count])
    let isDone = stream.outboxSent + count == stream.outbox.count
    connection.stream?.outboxSent = isDone ? 0 : stream.outboxSent + count
    if isDone { connection.stream?.outbox = [] }
    return count
  }

  private func readLog(_ connection: Connection, _ buffer: UnsafeMutableRawBufferPointer) -> EventLog.Read {
    // Unfinished outbox bytes fill the buffer; after a farewell nothing may follow.
    guard connection.stream?.hasCloseEvent == false, unsafe !buffer.isEmpty else { return .empty }
    return unsafe connection.stream?.read(into: buffer) ?? .empty
  }

  /// Somebody poked: resume the streams that have something to send, cut those that take nothing.
  func wakeStreams() {
    for connection in streaming.values {
      if connection.isSuspended {
        if connection.stream?.advance() == true { resume(connection) }
      } else if let stream = connection.stream, now > stream.lastWrite + Limits.streamStall.nanoseconds,
        stream.lag.map({ $0 > stream.lagLimit }) ?? true
      {
        counters.streamsLagged.increment()
        connection.isDisconnected = true
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
      }
    }
  }

  func checkHeartbeat(token: UInt64) {
    guard let connection = streaming[token], let stream = connection.stream else { return }
    let interval = stream.stream.heartbeat.interval.nanoseconds
    let due = stream.lastWrite + interval
    guard due <= now else { return planHeartbeat(connection, due) }
    planHeartbeat(connection, now + interval)
    if closeEvent == nil || stream.stream.endsAfter != nil { sendHeartbeat(connection) }
  }

  private func planHeartbeat(_ connection: Connection, _ time: UInt64) {
    connection.stream?.nextBeat = time
    plan(time, .heartbeat, token: connection.token)
  }

  /// Breaks a stream's silence.
  func sendHeartbeat(_ connection: Connection) {
    // A stream that is not suspended has bytes under way; breaking in would be neither needed nor safe.
    guard connection.isSuspended, let stream = connection.stream else { return }
    connection.stream?.outbox = stream.stream.heartbeat.bytes(lastID: stream.cursors[0].lastID)
    resume(connection)
  }

  // MARK: Logs

  private func follow(_ log: EventLog) {
    let id = ObjectIdentifier(log)
    if let entry = followed[id] {
      followed[id] = (log, entry.ticket, entry.streams + 1)
    } else {
      followed[id] = (log, log.register { [inbox] in inbox.poke() }, 1)
    }
  }

  private func unfollow(_ log: EventLog) {
    let id = ObjectIdentifier(log)
    guard let entry = followed[id] else { return }
    followed[id] = entry.streams > 1 ? (log, entry.ticket, entry.streams - 1) : nil
    if entry.streams == 1 { log.unregister(entry.ticket) }
  }
}
