internal import HTTPRouting
internal import History
internal import ReachabilityChecks

/// `/targets/{id}/badge.svg`: the state of a target for web pages.
package enum BadgeRoutes {
  private enum Metric: String, CaseIterable {
    case status, uptime, latency
  }

  static let badge = NodeRoute(
    pattern: "/targets/{id}/badge.svg", parameters: ["metric", "window", "timeZone"], mediaTypes: [.svg],
    opening: .badges,
    summary: "a target's status, uptime or latency as an image"
  ) { (context) throws(Problem) in
    let id = try context.targetID()
    let text = context.query["metric"] ?? Metric.status.rawValue
    guard let metric = Metric(rawValue: text) else {
      let known = Metric.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(.badRequest, "metric must be one of \(known), got \(text.prefix(80).debugDescription)")
    }
    let window = try UptimeWindowParameter(context)
    let report = context.service.targets.schedule.report(of: id)
    guard let report else { throw Problem(.missing, id) }
    switch metric {
    case .status: return .now(response(status(report.status.state, id)))
    case .uptime: return try uptime(context, id, window)
    case .latency:
      return try latency(context, id, try HistoryTimeParameter.window("window", context) ?? HistoryTimeParameter.day)
    }
  }

  private static func status(_ state: TargetState, _ id: String) -> HistoryBadge {
    let color: HistoryBadge.Color =
      switch state {
      case .up: .green
      case .down: .red
      case .unreachable: .yellow
      case .unknown, .paused: .grey
      }
    return HistoryBadge(label: id, value: state.rawValue, color: color)
  }

  private static func uptime(
    _ context: RequestContext, _ id: String, _ parameter: UptimeWindowParameter
  ) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let now = history.time.wall
    return context.reply(
      history,
      { (reader) throws(StoreQueryError) -> Result<Double?, Problem> in
        let range: Range<Int64>
        do throws(Problem) {
          range = try parameter.window(until: now).range
        } catch {
          return .failure(error)
        }
        guard let target = try reader.reference(to: HistorySubject.target(id)) else { return .success(nil) }
        return .success(try reader.uptimes(of: [target], in: range).first?.availability)
      },
      { result in
        let availability: Double?
        switch result {
        case .success(let found): availability = found
        case .failure(let problem): return context.answer(problem)
        }
        let label = "\(id) uptime \(parameter.text)"
        guard let availability else { return response(HistoryBadge(label: label, value: "unknown", color: .grey)) }
        let color: HistoryBadge.Color = availability >= 0.99 ? .green : availability >= 0.95 ? .yellow : .red
        return response(HistoryBadge(label: label, value: percent(availability), color: color))
      })
  }

  /// A share in percent with two decimals, rounded down: 100 % only without any outage.
  package static func percent(_ share: Double) -> String {
    let hundredths = Int((share * 10_000).rounded(.down))
    let decimals = String(hundredths % 100)
    return "\(hundredths / 100).\(decimals.utf8.count == 1 ? "0" : "")\(decimals) %"
  }

  private static func latency(_ context: RequestContext, _ id: String, _ window: Int64) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let end = history.time.wall / 1_000
    let recorder = history.recorder
    return context.reply(
      history,
      { (reader) throws(StoreQueryError) -> UInt32? in
        let name = HistorySubject.target(id)
        guard let reference = try reader.reference(to: name) else { return nil }
        var whole = LatencyRollup()
        let steps = try reader.latencies(
          of: (name, reference), in: (end - window / 1_000)..<(end + 1), step: .hour, recorder)
        for step in steps { whole.merge(step.rollup) }
        return whole.quantile(0.5)
      },
      { latency in
        let value = latency.map { Duration.microseconds($0).inMilliseconds + " ms" }
        return response(
          HistoryBadge(label: "\(id) latency", value: value ?? "unknown", color: value == nil ? .grey : .green))
      })
  }

  /// Pages of other origins may embed the image; caches keep it for a minute.
  private static func response(_ badge: HistoryBadge) -> HTTPResponse {
    var headers = RepresentationHeaders.headers(.svg)
    headers["Cache-Control"] = "max-age=60"
    headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return HTTPResponse(headers: headers, body: .bytes(Array(badge.svg.utf8)))
  }
}
