internal import HTTPRouting
internal import History
internal import JSONFormat
internal import ReachabilityChecks

/// `/uptime` and `/targets/{id}/uptime`.
enum UptimeRoutes {
  /// The default and maximum number of targets per page.
  private static let limitMaximum = 10_000

  static let target = NodeRoute(
    pattern: "/targets/{id}/uptime", parameters: ["window", "timeZone", "step"], mediaTypes: [.json],
    summary: "the availability and the outages of a registered or removed target"
  ) { (context) throws(Problem) in
    let id = try context.targetID()
    return try uptime(
      of: HistorySubject.target(id), id, isKnown: context.isRegistered(id), context, Problem(unknownTarget: id))
  }

  /// Answers with the uptime of a subject, or with a problem when it is neither present nor in the history.
  static func uptime(
    of subject: String, _ id: String, isKnown: Bool, _ context: RequestContext, _ problem: Problem
  ) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let parameter = try UptimeWindowParameter(context)
    let step = try HistoryTimeParameter.window("step", context)
    let now = history.time.wall
    return context.reply(
      history,
      { (reader) throws(StoreQueryError) -> Result<Found?, Problem> in
        let window: UptimeWindow
        do throws(Problem) {
          window = try parameter.window(until: now, step: step)
        } catch {
          return .failure(error)
        }
        guard let target = try reader.reference(to: subject) else {
          return .success(isKnown ? Found(range: window.range, steps: UptimeStep.unmonitored(in: window)) : nil)
        }
        return .success(Found(range: window.range, steps: try reader.uptime(of: target, in: window)))
      },
      { result in
        switch result {
        case .success(let found?): response(id, found.range, found.steps, isStepped: step != nil)
        case .success(nil): context.answer(problem)
        case .failure(let problem): context.answer(problem)
        }
      })
  }

  private struct Found {
    var range: Range<Int64>
    var steps: [UptimeStep]
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

  static let all = NodeRoute(
    pattern: "/uptime", parameters: ["window", "timeZone", "label", "limit", "cursor"], mediaTypes: [.json],
    queueing: .whenLarge,
    summary: "the availability of the registered targets"
  ) { (context) throws(Problem) in
    let history = try context.history()
    let now = history.time.wall
    let parameter = try UptimeWindowParameter(context)
    let page = try TargetPage(context, maximum: limitMaximum)
    let labels = try TargetLabelSelector.parse(context.query["label"])
    let reports = context.service.targets.schedule.reports(after: page.cursor, limit: page.limit + 1) { report in
      labels.allSatisfy { $0.matches(report.definition) }
    }
    let ids = reports.prefix(page.limit).map(\.definition.id)
    let next = reports.count > page.limit ? ids.last : nil
    return context.reply(
      history,
      { (reader) throws(StoreQueryError) -> Result<(Range<Int64>, [UptimeSummary]), Problem> in
        let range: Range<Int64>
        do throws(Problem) {
          range = try parameter.window(until: now).range
        } catch {
          return .failure(error)
        }
        return .success((range, try uptimes(reader, ids, range)))
      },
      { result in
        switch result {
        case .success(let (range, summaries)): list(context, ids, range, summaries, page, next)
        case .failure(let problem): context.answer(problem)
        }
      })
  }

  private static func list(
    _ context: RequestContext, _ ids: [String], _ range: Range<Int64>, _ summaries: [UptimeSummary],
    _ page: TargetPage, _ next: String?
  ) -> HTTPResponse {
    let targets = zip(ids, summaries).map { id, summary in
      JSON.object([.init(name: "id", value: .string(id))] + HistoryRepresentation.uptime(summary))
    }
    var headers = RepresentationHeaders.headers(.json)
    if let next {
      headers["Link"] = page.link("/uptime", after: next, keeping: ["window", "timeZone", "label"], context)
    }
    let members =
      Self.range(range) + [
        .init(name: "targets", value: .array(targets)), .init(name: "next", value: .text(next)),
      ]
    return HTTPResponse(headers: headers, body: .bytes(JSON.object(members).bytes + [0x0a]))
  }

  /// The uptimes in the order of the ids; targets without history are unmonitored.
  private static func uptimes(_ reader: HistoryReader, _ ids: [String], _ range: Range<Int64>) throws(StoreQueryError)
    -> [UptimeSummary]
  {
    var references: [Int64?] = []
    for id in ids { references.append(try reader.reference(to: HistorySubject.target(id))) }
    var found = try reader.uptimes(of: references.compactMap(\.self), in: range).makeIterator()
    return references.map { reference in
      (reference == nil ? nil : found.next()) ?? UptimeStep.unmonitored(in: UptimeWindow(range))[0].summary
    }
  }
}
