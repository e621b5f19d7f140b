internal import EventStreams
internal import EventLoop

/// The steps of a request: head, body, response.
///
/// The functions that return a Bool close the connection without a response when they return false.
final class RequestProcessor {
  private let context: HTTPServerContext
  private let connections: HTTPConnectionTable
  private let responses: ResponseSender
  private let direct: DirectResponder
  private let deferred: DeferredResponses
  private let streams: HTTPCallbackStreams
  private let halfClosed: HalfClosedHTTPClients
  private let errors: ErrorResponseMatcher
  private let memory: ConnectionMemory
  private let handler: HTTPHandler

  init(
    _ context: HTTPServerContext, connections: HTTPConnectionTable, responses: ResponseSender, direct: DirectResponder,
    deferred: DeferredResponses, streams: HTTPCallbackStreams, halfClosed: HalfClosedHTTPClients,
    errors: ErrorResponseMatcher, memory: ConnectionMemory,
    handler: @escaping HTTPHandler
  ) {
    (self.context, self.connections, self.responses, self.direct) = (context, connections, responses, direct)
    (self.deferred, self.streams, self.halfClosed, self.errors) = (deferred, streams, halfClosed, errors)
    (self.memory, self.handler) = (memory, handler)
  }

  /// A request line is complete, its head is not.
  func lineReceived(_ connection: HTTPConnection, target: String) {
    connection.current.target = target
    connection.enter(.head)
    errors.lineReceived(connection)
  }

  /// A head is complete, and `read` parses it.
  func headReceived(_ connection: HTTPConnection, _ bytes: UnsafeRawBufferPointer, read: () -> RequestHead) -> Bool {
    context.counters.requests.increment()
    connection.enter(.received)
    if context.answered != nil { connection.current.headTime = .now }
    connection.stopPolling()
    errors.headEnded(connection)
    if connection.isAborted { return false }
    if connection.admission.excess == .connections { memory.makeRoom(for: connection) }
    if let refusal = connections.capacityRefusal(connection) {
      let target = connection.current.target
      connection.current.request = context.makeRequest(
        read(), target: target, RequestTarget(target), peer: connection.peer)
      context.counters.overloaded.increment()
      return responses.refuse(connection, refusal)
    }
    // libmicrohttpd has replaced every separator with a NUL. Only the target shows a NUL that was sent, because it ends
    // there.
    if let cachedHead = connection.current.cachedHead, unsafe cachedHead.isOf(bytes),
      cachedHead.request.target == connection.current.target
    {
      connection.setRequestDeadline(nil)
      if cachedHead.answer?.cacheValidity.isValid == true {
        connection.enter(.repeated(cachedHead))
      } else {
        cachedHead.answer = nil
        connection.current.request = cachedHead.request
      }
      return true
    }
    return unsafe check(connection, read(), bytes)
  }

  /// Accepts a head's values if they are valid.
  private func check(_ connection: HTTPConnection, _ head: RequestHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let hidden = RequestRefusal.bad(.header, "the request head contains a folded line or a NUL")
    let target = connection.current.target
    let parts = RequestTarget(target)
    let broken = RequestValidator.check(
      method: head.method, target: target, parts: parts, version: head.version, headers: head.headers)
    let request = context.makeRequest(head, target: target, parts, peer: connection.peer)
    connection.current.request = request
    if let broken = broken ?? (head.isWellFormed ? nil : hidden) {
      context.counters.refused.increment()
      return responses.refuse(connection, broken)
    }
    let length = head.headers["Content-Length"].map { Int($0) ?? .max } ?? 0
    let limit = context.configuration.requestBodyLimit
    if length > limit {
      context.counters.refused.increment()
      return responses.refuse(connection, .bodyTooLarge(limit: limit))
    }
    let hasBody = length > 0
    if hasBody {
      connection.enter(.body)
      connection.charge?.since = context.now
    }
    connection.setRequestDeadline(hasBody ? context.now.advanced(byNanoseconds: context.spans.requestBody) : nil)
    let isCached = !hasBody && bytes.count <= Limits.cachedHead
    connection.current.cachedHead = unsafe isCached ? CachedRequestHead(bytes, request) : nil
    return true
  }

  /// Part of a body was received; its length was announced and checked.
  func bodyReceived(_ connection: HTTPConnection, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if connection.isAborted { return false }
    unsafe connection.current.request?.body.append(contentsOf: bytes)
    memory.hold(connection.client.headBytes + (connection.current.request?.body.capacity ?? 0), for: connection)
    return true
  }

  /// The request is complete, or its promised response is there.
  func requestReceived(_ connection: HTTPConnection) -> Bool {
    if connection.isDisconnected || connection.isAborted || context.stop.isStopping { return false }
    if let deferral = connection.phase.deferral {
      guard let reply = deferral.reply else { return false }
      return responses.answer(connection, reply)
    }
    connection.setRequestDeadline(nil)
    memory.release(connection)
    if case .repeated(let cachedHead) = connection.phase {
      let mayStay = !context.stop.isDraining && !context.stop.announcesClose
      if let answer = cachedHead.answer, answer.cacheValidity.isValid, mayStay {
        return responses.sendCached(connection, answer)
      }
      connection.current.request = cachedHead.request
    }
    connection.enter(.received)
    guard let request = connection.current.request else { return false }
    // The handler has the body; a promised response may take minutes.
    if !request.body.isEmpty { connection.current.request?.body = [] }
    switch handler(request) {
    case .now(let response):
      responses.keep(response, for: connection)
      return responses.answer(connection, response)
    case .later(let body):
      guard !context.stop.isFinalGrace else {
        return responses.answer(connection, direct.renderDraining(for: connection))
      }
      body(deferred.promise(connection, within: context.spans.reply))
      memory.hold(connection.client.headBytes, for: connection)
      return true
    case .wait(let wait):
      // A stop would wait for a wait that begins now.
      guard !context.stop.isDraining else { return responses.answer(connection, wait.expired()) }
      deferred.wait(connection, wait)
      holdWait(connection, wait)
      return true
    }
  }

  /// The promised response to a request waits for a change.
  func wait(_ wait: HTTPWait, connection: HTTPConnection?, request: UInt64) {
    guard let connection, connection.current.number == request, connection.phase.awaitsReply else { return }
    guard !context.stop.isDraining else {
      return deferred.deliver(wait.expired(), connection: connection.token, request: request)
    }
    deferred.wait(connection, wait)
    holdWait(connection, wait)
  }

  private func holdWait(_ connection: HTTPConnection, _ wait: HTTPWait) {
    // The response may have been given already.
    guard connection.phase.awaitsReply else { return }
    connection.charge?.since = context.now
    memory.hold(connection.client.headBytes + wait.retainedBytes, for: connection)
  }

  /// The request is over, answered or not; another one may follow on the connection.
  func requestCompleted(_ connection: HTTPConnection) {
    streams.end(connection)
    memory.endStream(connection)
    deferred.end(connection)
    halfClosed.ended(connection)
    memory.release(connection)
    if connection.charge?.uncheckedOutput ?? 0 >= Limits.uncheckedOutput { memory.checkSocket(connection) }
    // The library has added the socket of a suspended connection to its epoll set again, which reports an end.
    let wasSuspended = connection.unwatch()
    connection.enter(.idle)
    connection.current.end()
    connection.exchangeBegins()
    connection.setRequestDeadline(context.now.advanced(byNanoseconds: context.spans.betweenRequests))
    if !wasSuspended, connection.current.number <= Limits.endCheckedRequests { halfClosed.notifyEndOfInput(connection) }
  }
}
