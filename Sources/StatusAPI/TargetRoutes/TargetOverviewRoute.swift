internal import Events
internal import Compression
internal import HTTPRouting
internal import History
internal import Locks
internal import ReachabilityChecks

/// `GET /targets/overview`: all registered targets in columns, without pages.
enum TargetOverviewRoute {
  /// The maximum number of ids in a request for some targets.
  static let idLimit = 64

  static let overview = NodeRoute(
    pattern: "/targets/overview", parameters: ["id", "state", "label", "series"], repeatable: ["id"],
    mediaTypes: [.json], queueing: .always,
    summary: "all registered targets in columns, for pages that show all of them"
  ) { (context) throws(Problem) in
    let selection = try TargetSelection(context)
    let ids = Set(context.request.query.filter { $0.name == "id" }.map(\.value)).sorted()
    if let wrong = ids.first(where: { !TargetSpec.isID($0) }) { throw Problem(invalidID: wrong) }
    guard ids.count <= idLimit else {
      throw Problem(.badRequest, "a request names at most \(idLimit) targets, got \(ids.count)")
    }
    let visibility = TargetVisibility(context.routed)
    // Before the rows: an event that the rows already include does no harm when a client applies it again.
    let last = context.service.events.lastEvent
    // The latencies of checks without an event are as old as the minute.
    let minute = Timestamp.now.microseconds / 60_000_000
    // The epoch and one number, as every tag: the event, the minute (eight digits), and whether URLs are redacted.
    let tag = "W/\"\(last)\(minute)\(visibility == .redacted ? 0 : 1)\""
    var headers = RepresentationHeaders.ofTargets(.json)
    headers["Vary"] = "Accept, Accept-Encoding, Authorization, Origin"
    headers["ETag"] = tag
    headers["Last-Event-ID"] = last.description
    if let series = context.query["series"], series != "all" {
      throw Problem(.badRequest, "series must be all, got \(series.prefix(80).debugDescription)")
    }
    let hasSeries = context.query["series"] != nil && !ids.isEmpty
    if !hasSeries, let response = EntityTagList(ifNoneMatch: context.request)?.notModified(headers) {
      return .now(response)
    }
    let schedule = context.service.targets.schedule
    if hasSeries { return try seriesReply(ids, selection, visibility, headers, context) }
    let isCompressed = ContentCoding.acceptsGzip(context.request)
    let key = OverviewCache.Key(tag: tag, ids: ids, selection: selection, isCompressed: isCompressed)
    let hasHistory = context.service.history != nil
    let body = cache.body(for: key) {
      let reports =
        ids.isEmpty
        ? schedule.reports(where: selection.isSelected)
        : ids.compactMap { schedule.report(of: $0) }.filter(selection.isSelected)
      return TargetOverview(reports, visibility).document(hasHistory: hasHistory) + [0x0a]
    }
    if body.isCompressed { headers["Content-Encoding"] = "gzip" }
    return .now(HTTPResponse(headers: headers, body: .bytes(body.bytes)))
  }

  private static let cache = OverviewCache()

  /// Returns the overview of some targets with their series, which the history has.
  private static func seriesReply(
    _ ids: [String], _ selection: TargetSelection, _ visibility: TargetVisibility, _ headers: HTTPHeaders,
    _ context: RequestContext
  ) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let schedule = context.service.targets.schedule
    let reports = ids.compactMap { schedule.report(of: $0) }.filter(selection.isSelected)
    let reply = context.reply(
      history,
      { (reader) throws(StoreQueryError) -> [TargetSeries] in
        var series: [TargetSeries] = []
        for report in reports {
          series.append(
            try TargetSeries(of: report.definition.id, reader, history.recorder, at: history.time.wall))
        }
        return series
      },
      { series in
        let document = TargetOverview(reports, visibility).document(hasHistory: true, TargetSeries.columns(series))
        return HTTPResponse(headers: headers, body: .bytes(document + [0x0a]))
      })
    return ContentCoding.apply(reply, to: context.request)
  }
}

/// The last overviews: equal requests share one, in whatever words they are written.
private final class OverviewCache: Sendable {
  struct Key: Hashable {
    var tag: String
    var ids: [String]
    var selection: TargetSelection
    var isCompressed: Bool
  }

  struct Body: Sendable {
    var bytes: [UInt8]
    var isCompressed: Bool
  }

  /// The number of bodies that are kept: with and without compression, complete and redacted.
  private static let limit = 4

  private let kept = Locked<[(key: Key, body: Body)]>([])

  /// Returns the body for a key, and makes it if it is not kept; called on the queue of documents.
  func body(for key: Key, make: () -> [UInt8]) -> Body {
    if let body = kept.withLock({ kept in kept.first { $0.key == key }?.body }) { return body }
    let bytes = make()
    let compressed =
      key.isCompressed && bytes.count >= ContentCoding.minimumBytes ? Gzip.compressed(bytes) : nil
    let body = Body(bytes: compressed ?? bytes, isCompressed: compressed != nil)
    kept.withLock { kept in
      if kept.count >= Self.limit { kept.removeFirst() }
      kept.append((key, body))
    }
    return body
  }
}
