internal import Synchronization

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
/// If it has, the response is 304: immediately, or, if the client waits, when no state that it does not have occurs in time.
package struct ConditionalRequest: Sendable {
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
  ///   - present: the current tag, where the response costs much and always exists; the wait then begins with a comparison
  ///     in a task.
  ///   - current: the current response with its tag; without a tag when the state no longer exists.
  /// - Returns: the response, or the wait for another one.
  package func reply<Change>(
    waitingOn registry: LongPollRegistry<Change>, topic: String = "",
    when follow: () -> ChangeFilter<Change> = { ChangeFilter() },
    tag present: (@Sendable () -> String)? = nil,
    _ current: @escaping @Sendable () -> HTTPResponse
  ) -> HTTPReply {
    let known = current()
    guard let limit = poll.limit, let tags, let tag = known.headers["ETag"], tags.matches(tag) else {
      return .now(answer(known))
    }
    let filter = follow()
    let comparison = Comparison(request: self, tags: tags, tag: tag, present: present, current: current)
    let unchanged = answer(known)
    // The client may have several states, of which this one follows another. The filter is for the first one.
    let hasMoved = AtomicFlag()
    let wait = HTTPWait(limit: limit, retainedBytes: filter.retainedBytes) {
      // Every other change ends the wait.
      hasMoved.value ? answer(current()) : unchanged
    } begin: { promise in
      let waiterID = registry.add(topic: topic, comparesLater: present != nil) { news in
        if let news, !hasMoved.value, !news.contains(where: filter.isRelevant) { return false }
        while true {
          switch comparison.result {
          case .same: return false
          // Another change may have been passed over meanwhile, so compare again.
          case .known: if hasMoved.set() { return false }
          case .other(let response):
            promise.fulfil(response)
            return true
          }
        }
      }
      return { registry.remove(waiterID) }
    }
    return .wait(wait)
  }

  /// The response for this client: 304 without a body when the client has the state.
  fileprivate func answer(_ whole: HTTPResponse) -> HTTPResponse {
    poll.addingPreferenceApplied(whole.status == 200 ? tags?.notModified(whole.headers) ?? whole : whole)
  }
}

/// The comparison of the current state with those that a waiting client has.
private struct Comparison: Sendable {
  enum Result {
    /// The state with which the wait began.
    case same
    /// Another one that the client has.
    case known
    case other(HTTPResponse)
  }

  let request: ConditionalRequest
  let tags: EntityTagList
  /// The tag with which the wait began.
  let tag: String
  let present: (@Sendable () -> String)?
  let current: @Sendable () -> HTTPResponse

  var result: Result {
    if let present {
      // The client has every state that exists.
      guard !tags.hasWildcard else { return .same }
      let now = present()
      if now == tag { return .same }
      if tags.matches(now) { return .known }
    }
    let news = current()
    guard news.headers["ETag"] != tag else { return .same }
    let response = request.answer(news)
    return response.status == 304 ? .known : .other(response)
  }
}

/// A flag that is set once.
private final class AtomicFlag: Sendable {
  private let flag = Atomic(false)
  var value: Bool { flag.load(ordering: .acquiring) }

  /// Sets the flag; returns whether it was set.
  func set() -> Bool { flag.exchange(true, ordering: .acquiringAndReleasing) }
}
