internal import Compression
internal import Database
internal import Dispatch
internal import EmbeddedHTTPServer
internal import History
internal import JSONFormat
internal import Locks
internal import ReachabilityChecks
internal import ReachabilityModel

/// `GET /targets/overview`: all registered targets in columns, without pages.
enum TargetOverviewRoute {
  /// The maximum number of ids in a request for some targets.
  static let idLimit = 64

  static let overview = APIRoute(
    pattern: "/targets/overview", parameters: ["id", "state", "label", "series"], repeatable: ["id"],
    mediaTypes: [.json],
    summary: "all registered targets in columns, for pages that show all of them"
  ) { (context) throws(Problem) in
    let selection = try TargetSelection(context)
    let ids = context.request.query.filter { $0.name == "id" }.map(\.value)
    if let wrong = ids.first(where: { !TargetSpec.isID($0) }) { throw Problem(invalidID: wrong) }
    guard ids.count <= idLimit else {
      throw Problem(.badRequest, "a request names at most \(idLimit) targets, got \(ids.count)")
    }
    let visibility = TargetVisibility(context)
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
    if !hasSeries, EntityTagCondition(context.request).matches(tag) {
      headers["Content-Type"] = nil
      return .now(HTTPResponse(status: 304, headers: headers))
    }
    let schedule = context.service.targets.schedule
    if hasSeries { return try seriesReply(ids, selection, visibility, headers, context) }
    let isCompressed = ContentCoding.acceptsGzip(context.request)
    let key = OverviewCache.Key(
      tag: tag, query: context.request.query.map { "\($0.name)=\($0.value)" }, isCompressed: isCompressed)
    let hasHistory = context.service.history != nil
    return .later { [headers] promise in
      cache.body(for: key) {
        let reports =
          ids.isEmpty
          ? schedule.reports(where: selection.isSelected)
          : Set(ids).sorted().compactMap { schedule.report(of: $0) }.filter(selection.isSelected)
        return TargetOverview(reports, visibility).document(hasHistory: hasHistory) + [0x0a]
      } completion: { body in
        var headers = headers
        if body.isCompressed { headers["Content-Encoding"] = "gzip" }
        promise.fulfil(HTTPResponse(headers: headers, body: .bytes(body.bytes)))
      }
    }
  }

  private static let cache = OverviewCache()

  /// Returns the overview of some targets with their series, which the history has.
  private static func seriesReply(
    _ ids: [String], _ selection: TargetSelection, _ visibility: TargetVisibility, _ headers: HTTPHeaders,
    _ context: RequestContext
  ) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let schedule = context.service.targets.schedule
    let reports = Set(ids).sorted().compactMap { schedule.report(of: $0) }.filter(selection.isSelected)
    let reply = context.reply(
      history,
      { (reader) throws(DatabaseError) -> [TargetSeries] in
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

/// The last overviews: equal requests at the same time share one, which is made on a queue of its own.
private final class OverviewCache: Sendable {
  /// What a body depends on.
  struct Key: Hashable {
    var tag: String
    var query: [String]
    var isCompressed: Bool
  }

  struct Body: Sendable {
    var bytes: [UInt8]
    var isCompressed: Bool
  }

  /// The number of bodies that are kept: with and without compression, complete and redacted.
  private static let limit = 4

  private let queue = DispatchQueue(label: "overview", qos: .userInitiated)
  private let kept = Locked<[(key: Key, body: Body)]>([])

  /// Calls `completion` on the queue with the body for a key, and makes it if it is not kept.
  func body(
    for key: Key, make: @escaping @Sendable () -> [UInt8], completion: @escaping @Sendable (Body) -> Void
  ) {
    queue.async { [self] in
      if let body = kept.withLock({ kept in kept.first { $0.key == key }?.body }) { return completion(body) }
      let bytes = make()
      let compressed =
        key.isCompressed && bytes.count >= ContentCoding.minimumBytes ? Gzip.compressed(bytes) : nil
      let body = Body(bytes: compressed ?? bytes, isCompressed: compressed != nil)
      kept.withLock { kept in
        if kept.count >= Self.limit { kept.removeFirst() }
        kept.append((key, body))
      }
      completion(body)
    }
  }
}
