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
    loseSight(connection)
    headEnded(connection)
    if connection.isCut { return false }
    if let refusal = lackOfRoom(connection) {
      connection.request = makeRequest(connection, read(), RequestTarget(connection.target))
      counters.overloaded.increment()
      return refuse(connection, refusal)
    }
    // What libmicrohttpd has taken apart holds a NUL for every separator: only the target tells one from a NUL that was
    // sent, for there it has ended.
    if let known = connection.known, unsafe known.isOf(bytes), known.request.target == connection.target {
      setRequestDeadline(connection, nil)
      if known.answer?.standing.holds == true {
        connection.isRepeated = true
      } else {
        known.answer = nil
        connection.request = known.request
      }
      return true
    }
    return unsafe check(connection, read(), bytes)
  }

  /// Why there is no room for the connection; nil when there is, and then it stays: others who come later may not push it
  /// out.
  private func lackOfRoom(_ connection: Connection) -> RequestRefusal? {
    if connection.isExcess, let limit = configuration.connectionsPerAddress { return .crowded(limit: limit) }
    guard connection.isBeyondLimit else { return nil }
    connection.isBeyondLimit = counters.connections.load(ordering: .relaxed) > connectionLimit
    return connection.isBeyondLimit ? .overloaded("Too many connections are open.") : nil
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
    let broken = RequestGuard.check(
      method: head.method, target: connection.target, parts: parts, version: head.version, headers: head.headers)
    let request = makeRequest(connection, head, parts)
    connection.request = request
    if let broken = broken ?? (head.isIntact ? nil : hidden) {
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
    connection.known = unsafe hasBody || bytes.count > Limits.knownHead ? nil : KnownHead(bytes, request)
    return true
  }

  /// Part of a body has come; its length was announced and checked.
  ///
  /// False closes the connection without an answer.
  func bodyReceived(_ connection: Connection, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if connection.isCut { return false }
    unsafe connection.request?.body.append(contentsOf: bytes)
    return true
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
    connection.awaitsBody = false
    if connection.isRepeated, let known = connection.known {
      connection.isRepeated = false
      let mayStay = !isLeaving && !isParting
      if let answer = known.answer, answer.standing.holds, mayStay { return answerAgain(connection, answer) }
      connection.request = known.request
    }
    guard let request = connection.request else { return false }
    switch handler(request) {
    case .now(let response):
      keep(response, for: connection)
      return answer(connection, response)
    case .later(let body):
      guard !isLastCall else { return answer(connection, render(.draining, for: connection)) }
      body(promise(connection, within: spans.reply))
      return true
    case .wait(let wait):
      // Whoever would wait now would be waited for.
      guard !isLeaving else { return answer(connection, wait.expired()) }
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
    land(connection)
    unwatch(connection)
    connection.awaitsBody = false
    connection.phase = .head
    connection.hasLine = false
    connection.requestNumber += 1
    connection.request = nil
    connection.reply = nil
    connection.isSuspended = false
    connection.halfClosedDeadline = nil
    setRequestDeadline(connection, now + spans.betweenRequests)
    if connection.requestNumber <= Limits.looksForEnd { showEnd(connection) }
  }

  /// A stop need not wait for the current request any more.
  func land(_ connection: Connection) {
    guard connection.isInFlight else { return }
    connection.isInFlight = false
    requestsInFlight -= 1
  }
}
