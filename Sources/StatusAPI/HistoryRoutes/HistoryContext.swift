internal import HTTPRouting
internal import History
internal import Logging
internal import ReachabilityChecks

extension RequestContext {
  /// The history.
  ///
  /// - Throws: `storeDisabled` when the service has no data directory.
  func history() throws(Problem) -> HistoryKeeper {
    guard let history = service.history else {
      throw Problem(
        .storeDisabled,
        "no history without a data directory; start the service with --data DIR, or set data")
    }
    return history
  }

  func targetID() throws(Problem) -> String {
    let id = path["id"] ?? ""
    guard TargetSpec.isID(id) else { throw Problem(invalidID: id) }
    return id
  }

  /// Answers with the result of a query of the history.
  ///
  /// - Parameters:
  ///   - history: the history.
  ///   - query: what to read, on a thread of the store.
  ///   - respond: makes the response.
  /// - Returns: the reply.
  func reply<Value: Sendable>(
    _ history: HistoryKeeper, _ query: @escaping HistoryQuery<Value>,
    _ respond: @escaping @Sendable (Value) -> HTTPResponse
  ) -> HTTPReply {
    reply(history, query) { value, promise in promise.fulfil(respond(value)) }
  }

  /// Answers with what a closure makes of a query's result and a promise.
  func reply<Value: Sendable>(
    _ history: HistoryKeeper, _ query: @escaping HistoryQuery<Value>,
    then respond: @escaping @Sendable (Value, HTTPPromise) -> Void
  ) -> HTTPReply {
    .later { promise in
      history.read(query) { result in
        switch result {
        case .success(let value): respond(value, promise)
        case .failure(let error): promise.fulfil(answer(problem(error)))
        }
      }
    }
  }

  func isRegistered(_ id: String) -> Bool { service.targets.schedule.report(of: id) != nil }

  /// Returns the problem for a query that failed; the log has SQLite's error.
  func problem(_ error: StoreError) -> Problem {
    switch error {
    case .busy:
      return Problem(
        .overloaded, "the history is busy, or the query takes too long; retry with a shorter window",
        headers: ["Retry-After": "1"])
    default:
      service.logger.error("the history cannot be read", metadata: ["request": "\(requestID)", "error": "\(error)"])
      return Problem(
        .storeUnavailable, "the history cannot be read; retry later, and see the service's log",
        headers: ["Retry-After": "5"])
    }
  }
}

extension Problem {
  /// Creates the problem for a target that is neither registered nor in the history.
  init(unknownTarget id: String) {
    self.init(
      .notFound,
      "no target \(id.debugDescription), registered or in the history; GET /targets lists all")
  }
}
