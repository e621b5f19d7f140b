internal import EventStreams
internal import EventLoop
internal import Synchronization

/// Clients that have closed their sending side, or the connection, while their response is due: both look the same.
final class HalfClosedHTTPClients {
  private let context: HTTPServerContext
  private let streams: HTTPCallbackStreams
  private let memory: ConnectionMemory
  /// The connections whose client has closed its sending side, and is sent something to find out whether it still reads.
  private var examined: Set<UInt64> = []

  init(_ context: HTTPServerContext, _ streams: HTTPCallbackStreams, _ memory: ConnectionMemory) {
    self.context = context
    self.streams = streams
    self.memory = memory
  }

  /// Makes libmicrohttpd notice that a client has closed its side, after a response.
  ///
  /// 0.9.75 does not notice an end that arrives with the last bytes. It takes a read that does not fill its buffer as a
  /// sign that the kernel will report more, but its epoll set is edge-triggered and has reported the end already. A
  /// shutdown of the receiving side is another edge.
  func notifyEndOfInput(_ connection: HTTPConnection) {
    guard connection.client.isPlain, connection.client.hasClosedSide else { return }
    connection.client.shutReceiving()
  }

  /// The kernel reports that the client of a suspended connection has closed its side or the connection, or sends more.
  func clientSocketChanged(_ connection: HTTPConnection, _ events: Poller.Events) {
    if events.isDisjoint(with: [.peerClosed, .hangUp, .error]) {
      if connection.phase.deferral != nil { memory.checkInput(connection) }
      return
    }
    switch connection.phase {
    case .streaming, .deferred: break
    default: return
    }
    guard !connection.isDisconnected else { return }
    if events.isDisjoint(with: [.hangUp, .error]), mayStillRead(connection) { return }
    clientDisconnected(connection)
  }

  /// Whether a client that has closed its sending side may still read its response, as `nc -N` and `socat -` do.
  ///
  /// A client that has closed the connection looks the same (tcp(7)) until it is sent something, which its kernel
  /// answers with a reset. A stream without an end is closed immediately.
  private func mayStillRead(_ connection: HTTPConnection) -> Bool {
    // Under TLS the library would have to report it, and clients close the session with their side.
    guard connection.client.isPlain else { return false }
    if let state = connection.phase.stream, state.stream.endsAfter == nil { return false }
    // For Unix-domain sockets the kernel reports the two differently (unix(7)).
    if context.isUnixListener { return true }
    // HTTP/1.0 has no interim responses to test the client with. A promised response is sent in any case; a long poll
    // ends, because it may last ten minutes.
    if let deferral = connection.phase.deferral, connection.current.request?.version != "HTTP/1.1" {
      return deferral.wait == nil
    }
    scheduleInterimResponse(connection, after: Limits.halfClosed)
    return true
  }

  private func scheduleInterimResponse(_ connection: HTTPConnection, after pause: Duration) {
    examined.insert(connection.token)
    context.timers.set(.halfClosed(connection.token), at: context.now.advanced(by: pause))
  }

  /// Sends bytes that change nothing (RFC 9110 §15.2), to test whether the client still reads.
  ///
  /// If the client has closed the connection, its kernel answers with a reset.
  func sendInterimResponse(_ connection: HTTPConnection) {
    if connection.phase.stream != nil {
      streams.sendHeartbeat(connection)
    } else if connection.phase.awaitsReply {
      connection.client.sendDirectly(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      // The kernel has reported the end of this connection already: a client that closes it later causes no event.
      scheduleInterimResponse(connection, after: Limits.halfClosedRepeat)
    }
  }

  /// The request of a connection is over.
  func ended(_ connection: HTTPConnection) {
    guard !examined.isEmpty, examined.remove(connection.token) != nil else { return }
    context.timers.cancel(.halfClosed(connection.token))
  }

  private func clientDisconnected(_ connection: HTTPConnection) {
    connection.end(.gone)
    if connection.phase.stream != nil { context.counters.streams.gone.increment() }
    if connection.isSuspended {
      endChunks(connection)
      connection.resume()
    } else {
      connection.client.shutDown()
    }
  }

  /// Sends a stream's last chunk to a client that has closed only its sending side and still reads.
  ///
  /// libmicrohttpd takes the client's end for the connection's. A suspended stream has sent its last chunk completely.
  private func endChunks(_ connection: HTTPConnection) {
    // A stream with an end of its own must not seem to have reached it.
    guard let state = connection.phase.stream, state.isChunked, state.stream.endsAfter == nil, connection.client.isPlain
    else {
      return
    }
    connection.client.sendDirectly(Array("0\r\n\r\n".utf8))
  }
}
