internal import EventStreams
internal import Synchronization

/// Gives libmicrohttpd the responses to requests.
final class ResponseSender {
  private let context: HTTPServerContext
  private let direct: DirectResponder
  private let errors: ErrorResponseMatcher
  private let streams: HTTPCallbackStreams
  private let takeover: HTTPStreamTakeover?
  private let memory: ConnectionMemory

  init(
    _ context: HTTPServerContext, direct: DirectResponder, errors: ErrorResponseMatcher, streams: HTTPCallbackStreams,
    takeover: HTTPStreamTakeover?, memory: ConnectionMemory
  ) {
    self.context = context
    self.direct = direct
    self.errors = errors
    self.streams = streams
    self.takeover = takeover
    self.memory = memory
  }

  /// Answers the current request; false closes the connection.
  func answer(_ connection: HTTPConnection, _ response: HTTPResponse) -> Bool {
    var response = response
    let stop = context.stop
    if stop.isDraining || stop.announcesClose && response.length != nil { response.headers["Connection"] = "close" }
    let isBare = response.isBareShared
    if let strictTransport = context.strictTransport {
      response.headers["Strict-Transport-Security"] = strictTransport
    }
    hold(response.length ?? 0, for: connection)
    switch response.body {
    case .shared(let body) where isBare:
      return queue(connection, response, body.response(strictTransport: context.strictTransport))
    case .shared(let body):
      return queue(connection, response, MHDResponse(bytes: body.bytes, headers: response.headers))
    case .none: return queue(connection, response, MHDResponse(bytes: [], headers: response.headers))
    case .bytes(let bytes):
      return queue(connection, response, MHDResponse(bytes: bytes, headers: response.headers))
    case .stream(let stream): return answer(connection, response, stream)
    }
  }

  /// Counts a response's body, until the client has received it.
  private func hold(_ bytes: Int, for connection: HTTPConnection) {
    connection.charge?.uncheckedOutput += bytes + Limits.responseHead
    guard bytes >= Limits.countedResponse else { return }
    connection.exchangeBegins()
    memory.hold(bytes, for: connection)
  }

  /// Refuses a request in one of its calls, where libmicrohttpd accepts a response.
  func refuse(_ connection: HTTPConnection, _ reason: RequestRefusal) -> Bool {
    connection.setRequestDeadline(nil)
    connection.end(.refused)
    var response = direct.render(reason, for: connection)
    response.headers["Connection"] = "close"
    return answer(connection, response)
  }

  private func answer(_ connection: HTTPConnection, _ response: HTTPResponse, _ stream: EventStreamResponse) -> Bool {
    if connection.current.isHead {
      return queue(connection, response, MHDResponse(headOnly: response.headers))
    }
    if context.stop.isDraining { return answer(connection, direct.renderDraining(response.headers, for: connection)) }
    if stream.endsAfter == nil,
      context.counters.streams.open.load(ordering: .relaxed) >= context.configuration.streamLimit
    {
      context.counters.overloaded.increment()
      return answer(connection, direct.render(.overloaded("too many event streams are open"), for: connection))
    }
    let mayTakeOver = takeover != nil && !connection.current.isHTTP10
    guard stream.endsAfter != nil || memory.admitsStream(isTakenOver: mayTakeOver) else {
      context.counters.overloaded.increment()
      return answer(connection, direct.render(.overloaded("event streams use all memory for them"), for: connection))
    }
    if let takeover, stream.endsAfter == nil, takeover.takeOver(connection, response, stream) { return false }
    let reader = unsafe MHDResponseReader { [streams] in unsafe streams.fill(connection, $0) }
    guard let made = MHDResponse(headers: response.headers, reader: reader) else { return false }
    connection.report(response)
    streams.begin(connection, stream)
    if stream.endsAfter == nil { memory.beginStream(connection) }
    // A stream lives long, and its request is not needed any more.
    connection.current.request = nil
    errors.answerQueued(connection)
    return connection.client.queue(status: response.status, made)
  }

  private func queue(_ connection: HTTPConnection, _ response: HTTPResponse, _ made: MHDResponse?) -> Bool {
    guard let made else { return false }
    connection.report(response)
    errors.answerQueued(connection)
    connection.enter(.answered)
    return connection.client.queue(status: response.status, made)
  }

  // MARK: - Cached responses (ADR 24)

  /// Keeps a response for the next time that the same head is received on this connection, if it may be reused.
  func keep(_ response: HTTPResponse, for connection: HTTPConnection) {
    guard let cachedHead = connection.current.cachedHead else { return }
    guard let cacheValidity = response.cacheValidity, case .shared(let body) = response.body, response.isBareShared
    else {
      cachedHead.answer = nil
      return
    }
    cachedHead.answer = body.response(strictTransport: context.strictTransport).map {
      CachedResponse(cacheValidity: cacheValidity, response: $0, length: body.bytes.count)
    }
  }

  /// Sends the response that was sent before.
  func sendCached(_ connection: HTTPConnection, _ answer: CachedResponse) -> Bool {
    context.counters.bodyBytes.add(answer.length)
    hold(answer.length, for: connection)
    answer.cacheValidity.onReuse()
    errors.answerQueued(connection)
    connection.enter(.answered)
    return connection.client.queue(status: 200, answer.response)
  }
}
