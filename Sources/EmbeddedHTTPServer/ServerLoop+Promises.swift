internal import CMicroHTTPD

/// Answers that come later: promised ones, and those that wait for news.
extension ServerLoop {
  /// Puts the current request off until its answer comes.
  func promise(_ connection: Connection, within span: UInt64) -> HTTPPromise {
    connection.phase = .deferred
    suspend(connection)
    let deadline = now + span
    connection.replyDeadline = deadline
    plan(deadline, .reply, token: connection.token)
    return HTTPPromise(inbox: inbox, connection: connection.token, request: connection.requestNumber)
  }

  /// Keeps whom to tell when the answer is nobody's any more; it knows itself whether it is too late for that.
  func setAbandonmentHandler(_ body: @escaping @Sendable () -> Void, connection token: UInt64, request: UInt64) {
    guard let connection = connections[token], connection.requestNumber == request, connection.awaitsReply else {
      return body()
    }
    connection.abandoned = body
  }

  /// The request is not put off any more: there is an answer, or nobody who would take it.
  func endDeferral(_ connection: Connection) {
    if let abandoned = connection.abandoned {
      connection.abandoned = nil
      abandoned()
    }
    guard let wait = connection.wait else { return }
    connection.wait = nil
    counters.waiting.decrement()
    wait.end?()
  }

  /// Answers all who wait: nothing that is to come is worth waiting for any more.
  func expireWaits() {
    for connection in connections.values {
      guard let wait = connection.wait else { continue }
      deliver(wait.expired(), connection: connection.token, request: connection.requestNumber)
    }
  }

  func deliver(_ response: HTTPResponse?, connection token: UInt64, request: UInt64) {
    guard let connection = connections[token], connection.requestNumber == request, connection.awaitsReply else {
      return
    }
    let reply = response ?? render(.noReply, for: connection)
    if answersDirectly(connection, reply) { connection.isDisconnected = true } else { connection.reply = reply }
    endDeferral(connection)
    resume(connection)
  }

  /// Answers those who still wait while there is time to: their answers will not come before the end.
  func expireWaitsBeforeStop() {
    isFinalGrace = true
    for connection in connections.values where connection.awaitsReply {
      var response = render(.draining, for: connection)
      response.headers["Connection"] = "close"
      deliver(response, connection: connection.token, request: connection.requestNumber)
    }
  }
}
