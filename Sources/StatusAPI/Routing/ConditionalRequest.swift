internal import EmbeddedHTTPServer

/// A request for a state by one who may have it already: 304 then, at once or, when the client wants to wait, unless the
/// state becomes another meanwhile.
struct ConditionalRequest {
  private let poll: LongPoll
  private let tags: EntityTagCondition

  init(_ context: RequestContext) throws(Problem) {
    poll = try LongPoll(context)
    tags = EntityTagCondition(context.request)
  }

  /// The reply to the request.
  ///
  /// - Parameters:
  ///   - registry: where news of the state is called.
  ///   - topic: by what name.
  ///   - follow: asked for once the wait begins; tells whether a piece of news may concern the state as it is then.
  ///   - present: the tag as of now, where that costs less than the whole answer.
  ///   - current: the whole answer as of now, with its tag; when the state is gone, an answer without.
  /// - Returns: the answer, or the wait for another.
  func reply<Change>(
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

  /// What the client gets of it: nothing but headers when it is what it has.
  private func answer(_ whole: HTTPResponse) -> HTTPResponse {
    guard whole.status == 200, let tag = whole.headers["ETag"], tags.matches(tag) else {
      return poll.addingPreferenceApplied(whole)
    }
    var headers = whole.headers
    headers["Content-Type"] = nil
    return poll.addingPreferenceApplied(HTTPResponse(status: 304, headers: headers))
  }
}
