internal import HTTPRouting
internal import History
internal import NetworkReachability

/// What a route reads, on a thread of the store.
typealias HistoryQuery<Value> = @Sendable (HistoryReader) throws(StoreQueryError) -> Value

/// `GET /history`, and the history, uptime and latency of targets.
enum HistoryRoutes {
  static let history = NodeRoute(
    pattern: "/history", parameters: HistoryListQuery.parameters.union(["subject"]), repeatable: ["subject"],
    mediaTypes: [.json, .ndjson], summary: "the transitions of the past"
  ) { (context) throws(Problem) in
    let history = try context.history()
    let query = try HistoryListQuery(context, subject: nil, now: Timestamp(microseconds: history.time.wall))
    let filter = query.filter
    return context.reply(
      history, { (reader) throws(StoreQueryError) in try reader.page(filter) }, { query.response($0) })
  }

  static let targetHistory = NodeRoute(
    pattern: "/targets/{id}/history", parameters: HistoryListQuery.parameters, mediaTypes: [.json, .ndjson],
    summary: "the transitions of a registered or removed target"
  ) { (context) throws(Problem) in
    let id = try context.targetID()
    return try history(
      of: HistorySubject.target(id), isKnown: context.isRegistered(id), context, Problem(unknownTarget: id))
  }

  /// Answers with the transitions of a subject, or with a problem when it is neither present nor in the history.
  static func history(
    of subject: String, isKnown: Bool, _ context: RequestContext, _ problem: Problem
  ) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let query = try HistoryListQuery(context, subject: subject, now: Timestamp(microseconds: history.time.wall))
    let filter = query.filter
    return context.reply(
      history,
      { (reader) throws(StoreQueryError) -> HistoryPage? in
        let isInHistory = try reader.reference(to: subject) != nil
        return isInHistory || isKnown ? try reader.page(filter) : nil
      },
      { page in page.map(query.response) ?? context.answer(problem) })
  }
}
