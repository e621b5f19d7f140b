internal import CGnuTLS
internal import CMicroHTTPD
internal import Glibc
internal import Logging

/// Refusals, also those that libmicrohttpd gives no occasion for: it takes an answer neither before a head is complete
/// nor in the middle of a body, and what it refuses by itself is a page of its own making (ADR 14).
extension ServerLoop {
  /// Refuses a request in one of its calls, where libmicrohttpd takes an answer.
  func refuse(_ connection: Connection, _ reason: RequestRefusal) -> Bool {
    setRequestDeadline(connection, nil)
    connection.lingers = true
    var response = render(reason, for: connection)
    response.headers["Connection"] = "close"
    return answer(connection, response)
  }

  /// Writes the answer past libmicrohttpd and ends our direction.
  ///
  /// To be called only while the library has nothing to send on the connection, and after a request line, so after the
  /// handshake under TLS. Whatever it tries to send later finds a
  /// closed direction. The client has a moment to read and to hang up; then the other direction is cut, too.
  func refuseDirectly(_ connection: Connection, _ reason: RequestRefusal) {
    guard !connection.isAborted else { return }
    connection.isAborted = true
    connection.lingers = true
    setRequestDeadline(connection, nil)
    let response = render(reason, for: connection)
    // Nothing was complete that time could be counted from.
    if connection.phase == .head { connection.headTime = MonotonicClock.now }
    report(connection, response)
    let bytes = RawResponse.bytes(of: response, toHead: connection.request?.method == "HEAD")
    if let session = unsafe CMicroHTTPD_session(connection.handle) {
      unsafe sendEncrypted(OpaquePointer(session), bytes)
    } else {
      sendDirectly(connection, bytes)
    }
    shutdown(connection.descriptor, Int32(SHUT_WR))
    plan(now + Limits.linger.nanoseconds, .cut, token: connection.token)
  }

  /// Refuses a connection that there is no room for, at once: one that says nothing must not keep its descriptor.
  func rejectConnection(_ connection: Connection) {
    connection.isAborted = true
    counters.overloaded.increment()
    if unsafe CMicroHTTPD_is_plain(connection.handle) != 0 {
      let response = render(.overloaded("Too many connections are open."), for: connection)
      sendDirectly(connection, RawResponse.bytes(of: response))
    }
    shutDownConnection(connection)
  }

  /// Writes a few bytes past libmicrohttpd while it has nothing to send.
  ///
  /// They fit into any socket's buffer; a client that has filled it with unread bytes gets no more.
  func sendDirectly(_ connection: Connection, _ bytes: [UInt8]) {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    _ = unsafe bytes.withUnsafeBytes { unsafe send(connection.descriptor, $0.baseAddress, $0.count, flags) }
  }

  /// The same under TLS, through the library's own session, and tells the client that nothing follows.
  private func sendEncrypted(_ session: gnutls_session_t, _ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // A record at a time.
      let count = unsafe rest.withUnsafeBytes { unsafe gnutls_record_send(session, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
    unsafe gnutls_bye(session, GNUTLS_SHUT_WR)
  }

  /// Ends both directions: libmicrohttpd sees a hang-up and closes the connection itself.
  func shutDownConnection(_ connection: Connection) {
    shutdown(connection.descriptor, Int32(SHUT_RDWR))
  }

  /// What a refusal says, with the fields that every one has.
  func render(_ reason: RequestRefusal, for connection: Connection) -> HTTPResponse {
    var response = refusal(reason, connection.request)
    if let seconds = reason.retryAfterSeconds { response.headers["Retry-After"] = String(seconds) }
    if case .stream = response.body { response.body = .none }
    return response
  }

  // MARK: What libmicrohttpd refuses

  /// A request line is complete, its head is not yet.
  func lineReceived(_ connection: Connection) {
    connection.hasRequestLine = true
    if !connection.hasReceivedRequest { awaitingFirstRequest -= 1 }
    connection.hasReceivedRequest = true
    // Nearly every head comes in one piece, and is complete before the next line of another connection.
    if let latest = latestHead, latest.isMidHead, latest !== connection { splitHeads[latest.token] = latest }
    latestHead = connection
  }

  /// The connection has no head under way any more.
  func headEnded(_ connection: Connection) {
    if !splitHeads.isEmpty { splitHeads[connection.token] = nil }
  }

  /// libmicrohttpd complains; of some complaints it makes an answer, which it sends right after this.
  ///
  /// It does not say on which connection. Where that can be told for certain, the client gets our answer instead: so a
  /// malformed length is not answered with two heads, as 0.9.75 does, and a long head gets a problem document.
  func libraryLogged(_ diagnostic: String) {
    logger.debug("libmicrohttpd complains", metadata: ["complaint": "\(diagnostic)"])
    if diagnostic.hasPrefix("Closing connection (failed to create response header)"), let latest = latestAnswer {
      // The request's head left no room in the connection's memory. The library makes the answer's head as soon as it
      // has the answer, so the last one handed over is meant.
      counters.refused.increment()
      return refuseDirectly(latest, .headTooLarge)
    }
    guard let status = Self.status(in: diagnostic) else { return }
    counters.refused.increment()
    guard splitHeads.count <= Limits.splitHeads else { return }
    var heads = Array(splitHeads.values)
    if let latest = latestHead, latest.isMidHead, splitHeads[latest.token] == nil { heads.append(latest) }
    if status == 431 {
      // Only a connection that is between its request line and its last field can be answered so: is there one, it is it.
      if heads.count == 1 { refuseDirectly(heads[0], .headTooLarge) }
    } else {
      for head in heads {
        // Whose complaint it was does not matter: such a length is refused anyway.
        guard let length = unsafe CMicroHTTPD_content_length(head.handle) else { continue }
        guard let refusal = unsafe RequestValidator.checkLength(String(cString: length)) else { continue }
        refuseDirectly(head, refusal)
      }
    }
  }

  private static func status(in diagnostic: String) -> Int? {
    let beginning = "Error processing request (HTTP response code is "
    guard diagnostic.hasPrefix(beginning) else { return nil }
    return Int(diagnostic.dropFirst(beginning.count).prefix(3))
  }
}
