/// Which changes may concern a request that waits.
package struct ChangeFilter<Change>: Sendable {
  /// Whether a change may concern the request.
  package var isRelevant: @Sendable (Change) -> Bool
  /// Bytes of memory that the filter retains.
  package var retainedBytes: Int

  package init(retainedBytes: Int = 0, isRelevant: @escaping @Sendable (Change) -> Bool = { _ in true }) {
    self.isRelevant = isRelevant
    self.retainedBytes = retainedBytes
  }
}

/// A request for a state that the client may have already.
///
/// If it has, the response is 304: immediately, or, if the client waits, when the state does not change in time.
package struct ConditionalRequest {
  private let poll: LongPoll
  private let tags: EntityTagList?

  package init(_ routed: RoutedRequest) throws(Problem) {
    poll = try LongPoll(routed)
    tags = EntityTagList(ifNoneMatch: routed.request)
  }

  /// Returns the reply to the request.
  ///
  /// - Parameters:
  ///   - registry: the registry that is notified of changes of the state.
  ///   - topic: the topic to wait for.
  ///   - follow: called before the wait begins; returns a filter for the changes that may concern the state at that time.
  ///   - present: the current tag, where the response costs much; the wait then begins with a comparison in a task.
  ///   - current: the current response with its tag; without a tag when the state no longer exists.
  /// - Returns: the response, or the wait for another one.
  package func reply<Change>(
    waitingOn registry: LongPollRegistry<Change>, topic: String = "",
    when follow: () -> ChangeFilter<Change> = { ChangeFilter() },
    tag present: (@Sendable () -> String)? = nil,
    _ current: @escaping @Sendable () -> HTTPResponse
  ) -> HTTPReply {
    let known = current()
    guard let limit = poll.limit, let tag = known.headers["ETag"], tags?.matches(tag) == true else {
      return .now(answer(known))
    }
    let filter = follow()
    // Every change ends the wait, so none has happened when its time is over.
    let unchanged = answer(known)
    let wait = HTTPWait(limit: limit, retainedBytes: filter.retainedBytes) {
      unchanged
    } begin: { promise in
      let waiterID = registry.add(topic: topic, comparesLater: present != nil) { news in
        if let news, !news.contains(where: filter.isRelevant) { return false }
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
    poll.addingPreferenceApplied(whole.status == 200 ? tags?.notModified(whole.headers) ?? whole : whole)
  }
}
