internal import CMicroHTTPD
internal import Glibc

/// Clients that we owe bytes and that have closed their side, or are gone: that looks alike.
extension ServerLoop {
  /// Shows libmicrohttpd that a client has closed its side, after an answer.
  ///
  /// 0.9.75 does not see an end that comes together with the last bytes: it takes a read that fills less than its buffer for
  /// a sign that the kernel will tell of more, but its epoll set is edge-triggered, and was told already. Reading less is
  /// another edge.
  func notifyEndOfInput(_ connection: Connection) {
    guard unsafe CMicroHTTPD_is_plain(connection.handle) != 0 else { return }
    var byte: UInt8 = 0
    let count = unsafe recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    if count == 0 { shutdown(connection.descriptor, Int32(SHUT_RD)) }
  }

  /// Answers a client that has closed its side, if that can be done at once.
  ///
  /// The library would read on before it asks for the answer, and take the end for the connection's, depending on what
  /// else its epoll set holds.
  ///
  /// - Returns: false when the client has not closed its side, or the answer may not fit into the socket's buffer.
  func answersDirectly(_ connection: Connection, _ response: HTTPResponse) -> Bool {
    guard unsafe CMicroHTTPD_is_plain(connection.handle) != 0, !connection.isDisconnected else { return false }
    if case .stream = response.body { return false }
    var byte: UInt8 = 0
    guard unsafe recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0 else { return false }
    let bytes = RawResponse.bytes(of: response, toHead: connection.request?.method == "HEAD")
    guard bytes.count <= Limits.rawResponse else { return false }
    var sendBuffer = Int32(2 * Limits.rawResponse)
    unsafe setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &sendBuffer, socklen_t(MemoryLayout<Int32>.size))
    report(connection, response)
    sendDirectly(connection, bytes)
    return true
  }

  /// The kernel tells of a client that we owe bytes: it is gone, or has closed its side.
  func clientSocketChanged(_ connection: Connection, _ events: UInt32) {
    guard connection.phase == .streaming || connection.phase == .deferred, !connection.isDisconnected else { return }
    if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) == 0, mayStillRead(connection) { return }
    clientDisconnected(connection)
  }

  /// Whether a client that has closed its side may be there for what it asked for, as `nc -N` and `socat -` are.
  ///
  /// One that is gone for good looks the same (tcp(7)) until it is sent something, which its kernel answers with a reset.
  /// A stream without an end ends at once: who has said that it will say no more is told no more.
  private func mayStillRead(_ connection: Connection) -> Bool {
    // Under TLS the library would have to say it, and nobody closes a side without closing the session.
    guard unsafe CMicroHTTPD_is_plain(connection.handle) != 0 else { return false }
    if connection.phase == .streaming, connection.stream?.stream.endsAfter == nil { return false }
    // Between sockets of one machine the kernel tells one from the other (unix(7)).
    if isUnixListener { return true }
    // HTTP/1.0 knows no interim answers to sound with. An answer is waited for, news are not: they may take ten minutes.
    if connection.phase == .deferred, connection.request?.version != "HTTP/1.1" { return connection.wait == nil }
    scheduleInterimResponse(connection, after: Limits.halfClosed)
    return true
  }

  private func scheduleInterimResponse(_ connection: Connection, after pause: Duration) {
    let deadline = MonotonicClock.now + pause.nanoseconds
    connection.halfClosedDeadline = deadline
    plan(deadline, .halfClosed, token: connection.token)
  }

  /// Sends a client that has closed its side what cannot harm (RFC 9110, section 15.2), so that its kernel answers with a
  /// reset if it is gone.
  func sendInterimResponse(_ connection: Connection) {
    if connection.phase == .streaming {
      sendHeartbeat(connection)
    } else if connection.awaitsReply {
      sendDirectly(connection, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      // Of one that leaves later nothing else is heard: its end of the connection was told already.
      scheduleInterimResponse(connection, after: Limits.halfClosedRepeat)
    }
  }

  private func clientDisconnected(_ connection: Connection) {
    connection.isDisconnected = true
    if connection.phase == .streaming { counters.streamsGone.increment() }
    if connection.isSuspended {
      endChunks(connection)
      resume(connection)
    } else {
      shutDownConnection(connection)
    }
  }

  /// Sends a stream's last chunk to a client that closed its side only and still reads.
  ///
  /// libmicrohttpd takes the client's end for the connection's. A suspended stream has nothing half sent.
  private func endChunks(_ connection: Connection) {
    // One that has an end of its own must not seem to have reached it.
    guard connection.stream?.isChunked == true, connection.stream?.stream.endsAfter == nil,
      unsafe CMicroHTTPD_is_plain(connection.handle) != 0
    else { return }
    sendDirectly(connection, Array("0\r\n\r\n".utf8))
  }
}
