package import EmbeddedHTTPServer

/// A request for a state that the client may have already.
///
/// If it has, the response is 304: immediately, or, if the client waits, when the state does not change in time.
package struct ConditionalRequest {
  private let poll: LongPoll
  private let tags: EntityTagCondition

  package init(_ context: RequestContext) throws(Problem) {
    poll = try LongPoll(context)
    tags = EntityTagCondition(context.request)
  }

  /// Returns the reply to the request.
  ///
  /// - Parameters:
  ///   - registry: the registry that is notified of changes of the state.
  ///   - topic: the topic to wait for.
  ///   - follow: called when the wait begins; returns a filter for the changes that may concern the state at that time.
  ///   - present: the current tag, where it costs less than the whole response.
  ///   - current: the current response with its tag; without a tag when the state no longer exists.
  /// - Returns: the response, or the wait for another one.
  package func reply<Change>(
    waitingOn registry: LongPollRegistry<Change>, topic: String = "",
    when follow: @escaping @Sendable () -> @Sendable (Change) -> Bool = { { _ in true } },
    tag present: (@Sendable () -> String)? = nil,
    _ current: @escaping @Sendable () -> HTTPResponse
  ) -> HTTPReply {
    let known = current()
    guard let limit = poll.limit, let tag = known.headers["ETag"], tags.matches(tag) else { return .now(answer(known)) }
    let wait = HTTPWait(limit: limit) {
      answer(current())
    } begin: { promise in
      let isRelevant = follow()
      let waiterID = registry.add(topic: topic) { news in
        if let news, !news.contains(where: isRelevant) { return false }
        if let present, present() == tag { return false }
        let news = current()
        guard news.headers["ETag"] != tag else { return false }
        promise.fulfil(answer(news))
        return true
      }
      return { registry.remove(waiterID) }
    }
    return .wait(wait)
  }

  /// The response for this client: 304 without a body when the client has the state.
  private func answer(_ whole: HTTPResponse) -> HTTPResponse {
    guard whole.status == 200, let tag = whole.headers["ETag"], tags.matches(tag) else {
      return poll.addingPreferenceApplied(whole)
    }
    var headers = whole.headers
    headers["Content-Type"] = nil
    return poll.addingPreferenceApplied(HTTPResponse(status: 304, headers: headers))
  }
}
