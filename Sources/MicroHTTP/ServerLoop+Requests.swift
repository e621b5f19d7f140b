internal import CMicroHTTPD

/// Requests: head, body, answer.
extension ServerLoop {
  /// The first call for a request: the head is complete.
  ///
  /// False closes the connection without an answer.
  func headReceived(_ connection: Connection, method: String, version: String, headers: HTTPHeaders, isIntact: Bool)
    -> Bool
  {
    counters.requests.increment()
    requestsInFlight += 1
    connection.phase = .body
    connection.bodyLength = 0
    if answered != nil { connection.headTime = MonotonicClock.now }
    loseSight(connection)
    headEnded(connection)
    if connection.isCut { return false }
    if connection.isExcess, let limit = configuration.connectionsPerAddress {
      counters.overloaded.increment()
      return refuse(connection, .crowded(limit: limit))
    }
    if connections.count > connectionLimit {
      counters.overloaded.increment()
      return refuse(connection, .overloaded("Too many connections are open."))
    }
    let hidden = RequestRefusal.bad(.header, "The head holds a folded line or a NUL.")
    let parts = RequestTarget(connection.target)
    let broken = RequestGuard.check(
      method: method, target: connection.target, parts: parts, version: version, headers: headers)
    if let broken = broken ?? (isIntact ? nil : hidden) {
      counters.refused.increment()
      return refuse(connection, broken)
    }
    var request = HTTPRequest(
      method: method, target: connection.target, parts: parts, version: version, headers: headers, body: [],
      peer: peer(of: connection), isLoopbackListener: isLoopbackListener)
    request.isUnixListener = isUnixListener
    request.headers.trimValues()
    if let authority = parts?.authority { request.headers["Host"] = authority }
    let length = headers["Content-Length"].map { Int($0) ?? .max } ?? 0
    if length > configuration.requestBodyLimit {
      counters.refused.increment()
      return refuse(connection, .bodyTooLarge(limit: configuration.requestBodyLimit))
    }
    connection.request = request
    let isChunked = headers["Transfer-Encoding"] != nil
    if isChunked { chunkedBodies[connection.token] = connection }
    setRequestDeadline(connection, length > 0 || isChunked ? now + spans.requestBody : nil)
    return true
  }

  /// Part of a body has come.
  ///
  /// False closes the connection without an answer.
  func bodyReceived(_ connection: Connection, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if connection.isCut { return false }
    connection.bodyLength += bytes.count
    if connection.bodyLength <= configuration.requestBodyLimit {
      unsafe connection.request?.body.append(contentsOf: bytes)
      return true
    }
    // A chunked body shows its size only now, and libmicrohttpd takes no answer in the middle of one.
    connection.request?.body = []
    if unsafe CMicroHTTPD_is_plain(connection.handle) != 0 {
      counters.refused.increment()
      refuseDirectly(connection, .bodyTooLarge(limit: configuration.requestBodyLimit))
      return false
    }
    return connection.bodyLength <= max(Limits.discardedBody, configuration.requestBodyLimit)
  }

  /// The request is complete, or its promised answer is due.
  ///
  /// False closes the connection without an answer.
  func requestReceived(_ connection: Connection) -> Bool {
    if connection.isGone || connection.isCut || isStopping { return false }
    if connection.phase == .deferred {
      guard let reply = connection.reply else { return false }
      connection.reply = nil
      return answer(connection, reply)
    }
    setRequestDeadline(connection, nil)
    guard let request = connection.request else { return false }
    if connection.bodyLength > configuration.requestBodyLimit {
      counters.refused.increment()
      return refuse(connection, .bodyTooLarge(limit: configuration.requestBodyLimit))
    }
    switch handler(request) {
    case .now(let response):
      return answer(connection, response)
    case .later(let body):
      connection.phase = .deferred
      suspend(connection)
      let deadline = now + spans.reply
      connection.replyDeadline = deadline
      deadlines.push(deadline, .reply, token: connection.token)
      body(HTTPPromise(inbox: inbox, connection: connection.token, request: connection.requestNumber))
      return true
    }
  }

  /// The request is over, answered or not; the connection may go on with another.
  func requestCompleted(_ connection: Connection) {
    if connection.phase == .streaming { endStream(connection) }
    if connection.phase != .head, connection.phase != .streaming { requestsInFlight -= 1 }
    unwatch(connection)
    if !chunkedBodies.isEmpty { chunkedBodies[connection.token] = nil }
    connection.phase = .head
    connection.hasLine = false
    connection.requestNumber += 1
    connection.request = nil
    connection.reply = nil
    connection.isSuspended = false
    setRequestDeadline(connection, now + spans.betweenRequests)
  }

  /// Address and port of the client.
  private func peer(of connection: Connection) -> String {
    if let peer = connection.peer { return peer }
    if isUnixListener {
      let peer = "unix:\(CMicroHTTPD_peer_user(connection.descriptor))"
      connection.peer = peer
      return peer
    }
    let peer = peerAddress(of: connection).map { ListenAddress(host: $0.host, port: $0.port).description } ?? "unknown"
    connection.peer = peer
    return peer
  }

  /// Address of the client.
  func peerHost(of connection: Connection) -> String {
    peerAddress(of: connection)?.host ?? "unknown"
  }

  private func peerAddress(of connection: Connection) -> SocketAddress? {
    unsafe CMicroHTTPD_client_address(connection.handle).flatMap { unsafe SocketAddress(reading: $0) }
  }

  // MARK: Promises

  func deliver(_ response: HTTPResponse?, connection token: UInt64, request: UInt64) {
    guard let connection = connections[token], connection.requestNumber == request, connection.phase == .deferred,
      connection.reply == nil
    else { return }
    connection.reply = response ?? refusal(.noReply)
    resume(connection)
  }

  func checkReplyDeadline(token: UInt64, time: UInt64) {
    // A later request of the same connection has a later entry of its own; this one must not answer it.
    guard let connection = connections[token], connection.phase == .deferred,
      connection.reply == nil, connection.replyDeadline == time
    else { return }
    deliver(nil, connection: token, request: connection.requestNumber)
  }

  // MARK: Answers

  func answer(_ connection: Connection, _ response: HTTPResponse) -> Bool {
    var response = response
    if let strictTransport { response.headers["Strict-Transport-Security"] = strictTransport }
    switch response.body {
    case .shared(let body): return queue(connection, response, body.response(strictTransport: strictTransport))
    case .none: return queue(connection, response, ResponseHandle(bytes: [], headers: response.headers))
    case .bytes(let bytes): return queue(connection, response, ResponseHandle(bytes: bytes, headers: response.headers))
    case .stream(let stream): return answer(connection, response, stream)
    }
  }

  private func answer(_ connection: Connection, _ response: HTTPResponse, _ stream: HTTPStream) -> Bool {
    if connection.request?.method == "HEAD" {
      // Chunked, the library would send the last chunk's `0` even here; closing, it sends the head and nothing else.
      let made = unsafe ResponseHandle(
        blockSize: 1, headers: response.headers, reader: httpNoBytes, context: nil, free: nil)
      made?.closeAfter()
      return queue(connection, response, made)
    }
    if farewell != nil || stopDeadline != nil {
      return answer(connection, render(.draining))
    }
    if streaming.count >= configuration.streamLimit {
      counters.overloaded.increment()
      return answer(connection, render(.overloaded("Too many event streams are open.")))
    }
    let context = unsafe Unmanaged.passRetained(connection)
    let made = unsafe ResponseHandle(
      blockSize: Limits.streamBlock, headers: response.headers, reader: httpStreamBytes, context: context.toOpaque(),
      free: httpStreamFree)
    guard let made else {
      unsafe context.release()
      return false
    }
    beginStream(connection, stream)
    return queue(connection, response, made)
  }

  private func queue(_ connection: Connection, _ response: HTTPResponse, _ made: ResponseHandle?) -> Bool {
    guard let made else { return false }
    tell(connection, response)
    // A stream lives long, and its request is not needed any more.
    if connection.phase == .streaming { connection.request = nil } else { connection.phase = .answered }
    return unsafe MHD_queue_response(connection.handle, UInt32(clamping: response.status), made.pointer) == .YES
  }

  /// Counts an answer and tells whoever wants to hear of each.
  func tell(_ connection: Connection, _ response: HTTPResponse) {
    if connection.request?.method != "HEAD" { counters.bodyBytes.add(response.length ?? 0) }
    guard let answered else { return }
    answered(
      HTTPAnswer(
        request: connection.request, target: connection.target, peer: peer(of: connection), response: response,
        nanoseconds: MonotonicClock.now - connection.headTime))
  }
}
