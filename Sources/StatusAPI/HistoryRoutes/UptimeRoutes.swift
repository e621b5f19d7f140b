internal import Database
internal import EmbeddedHTTPServer
internal import History
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityChecks

/// `/uptime` and `/targets/{id}/uptime`.
enum UptimeRoutes {
  /// The window without `window`.
  private static let defaultWindow = HistoryTimeParameter.day
  /// The maximum number of steps: three hours more than a month of hours.
  private static let stepLimit: Int64 = 1_000
  /// The default and maximum number of targets per page.
  private static let defaultLimit = 100
  private static let limitMaximum = 10_000

  static let target = APIRoute(
    pattern: "/targets/{id}/uptime", parameters: ["window", "step"], mediaTypes: [.json],
    summary: "the availability and the outages of a registered or removed target"
  ) { (context) throws(Problem) in
    let history = try context.history()
    let id = try context.targetID()
    let (range, step) = try window(context, until: history.time.wall)
    let isRegistered = context.isRegistered(id)
    return context.reply(
      history,
      { (reader) throws(DatabaseError) -> [UptimeStep]? in
        guard let target = try reader.reference(to: HistorySubject.target(id)) else {
          return isRegistered ? UptimeStep.unmonitored(in: range, step: step ?? Int64.max) : nil
        }
        return try reader.uptime(of: target, in: range, step: step ?? range.upperBound - range.lowerBound)
      },
      { steps in
        guard let steps else { return context.answer(Problem(unknownTarget: id)) }
        return response(id, range, steps, isStepped: step != nil)
      })
  }

  /// The window, which begins at a whole step, and the step.
  private static func window(_ context: RequestContext, until end: Int64) throws(Problem) -> (Range<Int64>, Int64?) {
    let window = try HistoryTimeParameter.window("window", context) ?? defaultWindow
    guard let step = try HistoryTimeParameter.window("step", context) else { return (end - window..<end, nil) }
    guard window <= step * stepLimit else {
      throw Problem(
        .badRequest, "the window has more than \(stepLimit) steps; use a longer step or a shorter window")
    }
    let start = (end - window) / step * step
    return (start..<end, step)
  }

  private static func response(_ id: String, _ range: Range<Int64>, _ steps: [UptimeStep], isStepped: Bool)
    -> HTTPResponse
  {
    let whole = steps.reduce(into: UptimeSummary()) { $0 += $1.summary }
    var members = [JSON.Member(name: "id", value: .string(id))] + self.range(range)
    members += HistoryRepresentation.uptime(whole)
    if isStepped {
      let parts = steps.map { step -> JSON in
        let start = JSON.Member(name: "start", value: HistoryRepresentation.time(step.start))
        return .object([start] + HistoryRepresentation.uptime(step.summary))
      }
      members.append(.init(name: "steps", value: .array(parts)))
    }
    return HTTPResponse(
      headers: RepresentationHeaders.headers(.json), body: .bytes(JSON.object(members).bytes + [0x0a]))
  }

  private static func range(_ range: Range<Int64>) -> [JSON.Member] {
    [
      .init(name: "since", value: HistoryRepresentation.time(range.lowerBound)),
      .init(name: "until", value: HistoryRepresentation.time(range.upperBound)),
    ]
  }

  // MARK: - Many targets

  static let all = APIRoute(
    pattern: "/uptime", parameters: ["window", "label", "limit", "cursor"], mediaTypes: [.json], queueing: .manyTargets,
    summary: "the availability of the registered targets"
  ) { (context) throws(Problem) in
    let history = try context.history()
    let end = history.time.wall
    let window = try HistoryTimeParameter.window("window", context) ?? defaultWindow
    let limit = try ListLimit.parse(context.query["limit"], defaultLimit, limitMaximum)
    let labels = try TargetLabelSelector.parse(context.query["label"])
    let cursor = context.query["cursor"]
    if let cursor, !TargetSpec.isID(cursor) {
      throw Problem(.badRequest, "invalid cursor \(cursor.prefix(80).debugDescription); use the URL of the Link header")
    }
    let reports = context.service.targets.schedule.reports(after: cursor, limit: limit + 1) { report in
      labels.allSatisfy { $0.matches(report.definition) }
    }
    let ids = reports.prefix(limit).map(\.definition.id)
    let next = reports.count > limit ? ids.last : nil
    let range = end - window..<end
    return context.reply(
      history, { (reader) throws(DatabaseError) in try uptimes(reader, ids, range) },
      { summaries in
        let targets = zip(ids, summaries).map { id, summary in
          JSON.object([.init(name: "id", value: .string(id))] + HistoryRepresentation.uptime(summary))
        }
        var headers = RepresentationHeaders.headers(.json)
        if let next { headers["Link"] = "<\(link(context, limit, next))>; rel=\"next\"" }
        let members =
          Self.range(range) + [
            .init(name: "targets", value: .array(targets)), .init(name: "next", value: .text(next)),
          ]
        return HTTPResponse(headers: headers, body: .bytes(JSON.object(members).bytes + [0x0a]))
      })
  }

  /// The uptimes in the order of the ids; targets without history are unmonitored.
  private static func uptimes(_ reader: HistoryReader, _ ids: [String], _ range: Range<Int64>) throws(DatabaseError)
    -> [UptimeSummary]
  {
    var references: [Int64?] = []
    for id in ids { references.append(try reader.reference(to: HistorySubject.target(id))) }
    var found = try reader.uptimes(of: references.compactMap(\.self), in: range).makeIterator()
    return references.map { reference in
      (reference == nil ? nil : found.next()) ?? UptimeStep.unmonitored(in: range, step: .max)[0].summary
    }
  }

  private static func link(_ context: RequestContext, _ limit: Int, _ next: String) -> String {
    var items = ["limit=\(limit)", "cursor=\(next)"]
    for name in ["label", "window"] {
      guard let value = context.query[name] else { continue }
      items.insert("\(name)=\(PercentEncoding.encoded(value))", at: 0)
    }
    return "/uptime?" + items.joined(separator: "&")
  }
}
