internal import HTTPRouting
internal import History

/// Responses to changes of registered targets, which are sent after the change is committed.
enum DurableTargetReply {
  /// The longest wait for the disk; the change is in force meanwhile.
  private static let limit = Duration.seconds(2)

  /// Returns the reply after everything so far is committed; 503 if that takes too long.
  static func afterCommit(_ reply: HTTPReply, in store: HistoryStore, _ context: RequestContext) -> HTTPReply {
    guard case .now(let response) = reply, (200..<300).contains(response.status) else { return reply }
    let unavailable = Problem(
      .storeUnavailable,
      "The change is in force, and it is not stored yet, because the disk does not respond; a restart may undo it.",
      headers: ["Retry-After": "5"])
    return .wait(
      HTTPWait(limit: limit) {
        context.answer(unavailable)
      } begin: { promise in
        store.afterCommit { result in
          switch result {
          case .success: promise.fulfil(response)
          case .failure: promise.fulfil(context.answer(unavailable))
          }
        }
        return {}
      })
  }
}
