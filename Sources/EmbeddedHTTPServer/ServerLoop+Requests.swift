internal import CMicroHTTPD
internal import Synchronization

/// Requests: head, body, answer.
extension ServerLoop {
  /// The first call for a request: the head is complete, and `read` takes it apart.
  ///
  /// False closes the connection without an answer.
  func headReceived(_ connection: Connection, _ bytes: UnsafeRawBufferPointer, read: () -> RequestHead) -> Bool {
    counters.requests.increment()
    requestsInFlight += 1
    connection.isInFlight = true
    connection.phase = .body
    if answered != nil { connection.headTime = MonotonicClock.now }
    stopPolling(connection)
    headEnded(connection)
    if connection.isAborted { return false }
    if let refusal = capacityRefusal(connection) {
      connection.request = makeRequest(connection, read(), RequestTarget(connection.target))
      counters.overloaded.increment()
      return refuse(connection, refusal)
    }
    // What libmicrohttpd has taken apart holds a NUL for every separator: only the target tells one from a NUL that was
    // sent, for there it has ended.
    if let cachedHead = connection.cachedHead, unsafe cachedHead.isOf(bytes),
      cachedHead.request.target == connection.target
    {
      setRequestDeadline(connection, nil)
      if cachedHead.answer?.cacheValidity.isValid == true {
        connection.reusesCachedHead = true
      } else {
        cachedHead.answer = nil
        connection.request = cachedHead.request
      }
      return true
    }
    return unsafe check(connection, read(), bytes)
  }

  /// Why there is no room for the connection; nil when there is, and then it stays: others who come later may not push it
  /// out.
  private func capacityRefusal(_ connection: Connection) -> RequestRefusal? {
    if connection.exceedsAddressLimit, let limit = configuration.connectionsPerAddress {
      return .tooManyConnections(limit: limit)
    }
    guard connection.exceedsConnectionLimit else { return nil }
    connection.exceedsConnectionLimit = counters.connections.load(ordering: .relaxed) > connectionLimit
    return connection.exceedsConnectionLimit ? .overloaded("Too many connections are open.") : nil
  }

  /// A head's values as a request, whether or not they pass the guard.
  private func makeRequest(_ connection: Connection, _ head: RequestHead, _ parts: RequestTarget?) -> HTTPRequest {
    var request = HTTPRequest(
      method: head.method, target: connection.target, parts: parts, version: head.version, headers: head.headers,
      body: [], peer: peer(of: connection), isLoopbackListener: isLoopbackListener)
    request.isUnixListener = isUnixListener
    request.headers.trimValues()
    if let authority = parts?.authority { request.headers["Host"] = authority }
    return request
  }

  /// Takes a head's values, if they pass the guard.
  private func check(_ connection: Connection, _ head: RequestHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let hidden = RequestRefusal.bad(.header, "The head holds a folded line or a NUL.")
    let parts = RequestTarget(connection.target)
    let broken = RequestValidator.check(
      method: head.method, target: connection.target, parts: parts, version: head.version, headers: head.headers)
    let request = makeRequest(connection, head, parts)
    connection.request = request
    if let broken = broken ?? (head.isWellFormed ? nil : hidden) {
      counters.refused.increment()
      return refuse(connection, broken)
    }
    let length = head.headers["Content-Length"].map { Int($0) ?? .max } ?? 0
    if length > configuration.requestBodyLimit {
      counters.refused.increment()
      return refuse(connection, .bodyTooLarge(limit: configuration.requestBodyLimit))
    }
    let hasBody = length > 0
    connection.awaitsBody = hasBody
    setRequestDeadline(connection, hasBody ? now + spans.requestBody : nil)
    connection.cachedHead = unsafe hasBody || bytes.count > Limits.cachedHead ? nil : CachedRequestHead(bytes, request)
    return true
  }

  /// Part of a body has come; its length was announced and checked.
  ///
  /// False closes the connection without an answer.
  func bodyReceived(_ connection: Connection, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if connection.isAborted { return false }
    unsafe connection.request?.body.append(contentsOf: bytes)
    return true
  }

  /// The request is complete, or its promised answer is due.
  ///
  /// False closes the connection without an answer.
  func requestReceived(_ connection: Connection) -> Bool {
    if connection.isDisconnected || connection.isAborted || isStopping { return false }
    if connection.phase == .deferred {
      guard let reply = connection.reply else { return false }
      connection.reply = nil
      return answer(connection, reply)
    }
    setRequestDeadline(connection, nil)
    connection.awaitsBody = false
    if connection.reusesCachedHead, let cachedHead = connection.cachedHead {
      connection.reusesCachedHead = false
      let mayStay = !isDraining && !announcesClose
      if let answer = cachedHead.answer, answer.cacheValidity.isValid, mayStay { return sendCached(connection, answer) }
      connection.request = cachedHead.request
    }
    guard let request = connection.request else { return false }
    switch handler(request) {
    case .now(let response):
      keep(response, for: connection)
      return answer(connection, response)
    case .later(let body):
      guard !isFinalGrace else { return answer(connection, render(.draining, for: connection)) }
      body(promise(connection, within: spans.reply))
      return true
    case .wait(let wait):
      // Whoever would wait now would be waited for.
      guard !isDraining else { return answer(connection, wait.expired()) }
      connection.wait = Connection.Wait(expired: wait.expired)
      counters.waiting.increment()
      connection.wait?.end = wait.begin(promise(connection, within: wait.limit.nanoseconds))
      return true
    }
  }

  /// The request is over, answered or not; the connection may go on with another.
  func requestCompleted(_ connection: Connection) {
    if connection.phase == .streaming { endStream(connection) }
    endDeferral(connection)
    finishRequest(connection)
    unwatch(connection)
    connection.awaitsBody = false
    connection.phase = .head
    connection.hasRequestLine = false
    connection.requestNumber += 1
    connection.request = nil
    connection.reply = nil
    connection.isSuspended = false
    connection.halfClosedDeadline = nil
    setRequestDeadline(connection, now + spans.betweenRequests)
    if connection.requestNumber <= Limits.endCheckInterval { notifyEndOfInput(connection) }
  }

  /// A stop need not wait for the current request any more.
  func finishRequest(_ connection: Connection) {
    guard connection.isInFlight else { return }
    connection.isInFlight = false
    requestsInFlight -= 1
  }
}
