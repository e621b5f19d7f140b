internal import EventStreams
internal import EventLoop
internal import Glibc
internal import Synchronization

/// Streams whose bytes libmicrohttpd requests; each is suspended while it has nothing to send.
final class HTTPCallbackStreams {
  private struct Followed {
    let log: EventLog
    /// Ends the notifications of the log.
    let ticket: UInt64
    var streams = 1
  }

  private let context: HTTPServerContext
  private var streaming: [UInt64: HTTPConnection] = [:]
  private var followed: [ObjectIdentifier: Followed] = [:]

  init(_ context: HTTPServerContext) { self.context = context }

  /// Begins the stream that answers the connection's current request.
  func begin(_ connection: HTTPConnection, _ stream: EventStreamResponse) {
    let state = HTTPCallbackStream(
      stream, isChunked: !connection.current.isHTTP10, now: context.now,
      lagLimit: context.configuration.streamLag)
    connection.enter(.streaming(state))
    streaming[connection.token] = connection
    // A stream with an end is a long response: it is not counted as a stream, and a stop waits for it.
    if stream.endsAfter == nil {
      context.counters.streams.open.increment()
      context.counters.streams.opened.increment()
    }
    ListeningSocket.set(connection.client.descriptor, SOL_SOCKET, SO_SNDBUF, Limits.streamSendBuffer)
    ListeningSocket.set(connection.client.descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 0)
    for feed in stream.feeds { follow(feed.log) }
    planHeartbeat(connection, context.now.advanced(byNanoseconds: stream.heartbeat.interval.nanoseconds))
  }

  /// Ends the connection's stream, if it has one.
  func end(_ connection: HTTPConnection) {
    guard let state = connection.phase.stream else { return }
    streaming[connection.token] = nil
    context.timers.cancel(.heartbeat(connection.token))
    if state.stream.endsAfter == nil { context.counters.streams.open.decrement() }
    for feed in state.stream.feeds { unfollow(feed.log) }
  }

  /// Fills a buffer of libmicrohttpd with the stream's next bytes.
  func fill(_ connection: HTTPConnection, _ buffer: UnsafeMutableRawBufferPointer) -> MHDResponseReader.Piece {
    context.hadActivity = true
    let piece = unsafe next(connection, buffer)
    switch piece {
    case .bytes, .nothing: break
    case .end, .broken: connection.keepPolled()
    }
    return piece
  }

  private func next(
    _ connection: HTTPConnection, _ buffer: UnsafeMutableRawBufferPointer
  ) -> MHDResponseReader.Piece {
    guard !connection.isDisconnected, !context.stop.isStopping, let state = connection.phase.stream else {
      return .broken
    }
    var count = unsafe state.takeOutbox(buffer)
    switch unsafe state.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) {
    case .bytes(let read, _): count += read
    case .empty: break
    case .lapped:
      context.counters.streams.lagged.increment()
      return .broken
    }
    if count == 0, state.isAtEnd {
      state.stream.abandonment?.markComplete()
      return .end
    }
    // A response with an end of its own gets no close event; it has the time of the grace.
    if count == 0, let closeEvent = context.stop.closeEvent, state.stream.endsAfter == nil {
      guard !state.hasCloseEvent else { return .end }
      state.add(closeEvent: closeEvent)
      count = unsafe state.takeOutbox(buffer)
      if count == 0 { return .end }
    }
    guard count > 0 else {
      connection.suspend()
      if let history = state.history, !state.awaitsPiece { requestPiece(history, state, connection.token) }
      return .nothing
    }
    state.lastWrite = context.now
    connection.charge?.uncheckedOutput += count
    context.counters.bodyBytes.add(count)
    return .bytes(count)
  }

  private func requestPiece(_ history: any StreamHistory, _ state: HTTPCallbackStream, _ token: UInt64) {
    state.awaitsPiece = true
    history.readNext { [inbox = context.inbox] piece in inbox.post(.piece(connection: token, piece)) }
  }

  /// Sends a piece of a stream's history.
  func add(_ piece: StreamPiece, to token: UInt64) {
    guard let connection = streaming[token], let state = connection.phase.stream, state.history != nil else { return }
    state.lastWrite = context.now
    state.add(piece)
    connection.resume()
  }

  /// Handles new entries of a log: resumes the streams that have something to send, and closes the lagging ones.
  func wake() {
    for connection in streaming.values {
      guard let state = connection.phase.stream else { continue }
      if connection.isSuspended {
        if state.advance() { connection.resume() }
      } else if context.now > state.lastWrite.advanced(byNanoseconds: EventStreamResponse.stallTime.nanoseconds),
        state.isLagging
      {
        disconnectLagging(connection)
      }
    }
  }

  private func disconnectLagging(_ connection: HTTPConnection) {
    context.counters.streams.lagged.increment()
    connection.end(.gone)
    connection.client.shutDown()
  }

  /// Resumes all streams, so that they send the close event.
  func resumeAll() { for connection in streaming.values { connection.resume() } }

  /// Sends a heartbeat if one is due, and sets the timer of the next one.
  func checkHeartbeat(_ token: UInt64) {
    guard let connection = streaming[token], let state = connection.phase.stream else { return }
    if let isPermitted = state.stream.isPermitted, !isPermitted() {
      connection.end(.gone)
      // libmicrohttpd does not see the end of a suspended connection.
      connection.client.shutDown()
      return connection.resume()
    }
    let interval = state.stream.heartbeat.interval.nanoseconds
    let due = state.lastWrite.advanced(byNanoseconds: interval)
    guard due <= context.now else { return planHeartbeat(connection, due) }
    guard state.history == nil || connection.isSuspended else {
      // Few histories are read at a time: a client that takes nothing must not delay the others.
      return disconnectLagging(connection)
    }
    planHeartbeat(connection, context.now.advanced(byNanoseconds: interval))
    if context.stop.closeEvent == nil || state.stream.endsAfter != nil { sendHeartbeat(connection) }
  }

  private func planHeartbeat(_ connection: HTTPConnection, _ time: MonotonicInstant) {
    context.timers.set(.heartbeat(connection.token), at: time)
  }

  func sendHeartbeat(_ connection: HTTPConnection) {
    // A stream that is not suspended is sending: a heartbeat in between is neither needed nor safe.
    guard connection.isSuspended, let state = connection.phase.stream else { return }
    state.addHeartbeat()
    connection.resume()
  }

  // MARK: - Logs

  private func follow(_ log: EventLog) {
    let id = ObjectIdentifier(log)
    if followed[id] != nil {
      followed[id]?.streams += 1
    } else {
      followed[id] = Followed(log: log, ticket: log.register { [inbox = context.inbox] in inbox.wake() })
    }
  }

  private func unfollow(_ log: EventLog) {
    let id = ObjectIdentifier(log)
    guard let entry = followed[id] else { return }
    followed[id]?.streams -= 1
    guard entry.streams == 1 else { return }
    followed[id] = nil
    log.unregister(entry.ticket)
  }

  /// Ends the notifications of all logs.
  func unfollowAll() {
    for entry in followed.values { entry.log.unregister(entry.ticket) }
    followed = [:]
  }
}
