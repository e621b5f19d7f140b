internal import EventStreams
internal import EventLoop

/// Responses that are given later: promised ones, and long polls.
final class DeferredResponses {
  private let context: HTTPServerContext
  private let connections: HTTPConnectionTable
  private let direct: DirectResponder

  init(_ context: HTTPServerContext, _ connections: HTTPConnectionTable, _ direct: DirectResponder) {
    self.context = context
    self.connections = connections
    self.direct = direct
  }

  /// Suspends the connection until the response to its current request is given.
  func promise(_ connection: HTTPConnection, within span: Int64) -> HTTPPromise {
    if connection.phase.deferral == nil { connection.enter(.deferred(DeferredHTTPResponse())) }
    connection.suspend()
    // Not the time of this turn: the handler may have needed longer than the span.
    context.timers.set(.reply(connection.token), at: MonotonicInstant.now.advanced(byNanoseconds: span))
    return HTTPPromise(inbox: context.inbox, connection: connection.token, request: connection.current.number)
  }

  /// Begins a long poll, also in place of a promised response.
  func wait(_ connection: HTTPConnection, _ wait: HTTPWait) {
    let promise = promise(connection, within: wait.limit.nanoseconds)
    guard let deferral = connection.phase.deferral else { return }
    deferral.abandoned = nil
    deferral.wait = DeferredHTTPResponse.Wait(expired: wait.expired)
    context.counters.waiting.increment()
    deferral.wait?.end = wait.begin(promise)
  }

  /// Keeps what to call when the response is not needed any more; calls it if that is so already.
  func setAbandonmentHandler(_ body: @escaping @Sendable () -> Void, connection token: UInt64, request: UInt64) {
    guard let connection = connections[token], connection.current.number == request,
      let deferral = connection.phase.deferral,
      deferral.reply == nil
    else { return body() }
    deferral.abandoned = body
  }

  /// Ends the deferral of a connection, if there is one: its response is given, or its client is not there any more.
  func end(_ connection: HTTPConnection) {
    guard let deferral = connection.phase.deferral else { return }
    context.timers.cancel(.reply(connection.token))
    if let abandoned = deferral.abandoned {
      deferral.abandoned = nil
      abandoned()
    }
    guard let wait = deferral.wait else { return }
    deferral.wait = nil
    context.counters.waiting.decrement()
    wait.end?()
  }

  /// Gives the response to a deferred request; nil for a promise that was dropped.
  func deliver(_ response: HTTPResponse?, connection token: UInt64, request: UInt64) {
    guard let connection = connections[token], connection.current.number == request,
      let deferral = connection.phase.deferral,
      deferral.reply == nil
    else { return }
    let reply = response ?? direct.render(.noReply, for: connection)
    let isSent = direct.answersDirectly(connection, reply)
    if isSent { connection.end(.gone) } else { deferral.reply = reply }
    end(connection)
    connection.resume()
  }

  /// The time for a promised response, or of a long poll, is over.
  func expire(_ token: UInt64) {
    guard let connection = connections[token], let deferral = connection.phase.deferral else { return }
    deliver(deferral.wait?.expired(), connection: token, request: connection.current.number)
  }

  /// Ends all long polls with their timeout response.
  func expireWaits() {
    for connection in connections.all {
      guard let wait = connection.phase.deferral?.wait else { continue }
      deliver(wait.expired(), connection: connection.token, request: connection.current.number)
    }
  }

  /// Answers the remaining promised requests with 503 shortly before the end of a stop's grace.
  func expireWaitsBeforeStop() {
    for connection in connections.all where connection.phase.awaitsReply {
      var response = direct.renderDraining(for: connection)
      response.headers["Connection"] = "close"
      deliver(response, connection: connection.token, request: connection.current.number)
    }
  }
}
