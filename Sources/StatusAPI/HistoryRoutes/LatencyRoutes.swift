internal import HTTPRouting
internal import History
internal import JSONFormat
internal import NetworkReachability

/// `/targets/{id}/latency`.
enum LatencyRoutes {
  private static let quantileLimit = 8
  private static let defaultQuantiles = "0.5,0.95,0.99"

  static let latency = NodeRoute(
    pattern: "/targets/{id}/latency", parameters: ["step", "window", "quantiles"], mediaTypes: [.json],
    summary: "the durations of a target's checks, in steps"
  ) { (context) throws(Problem) in
    let history = try context.history()
    let id = try context.targetID()
    let step = try step(context.query["step"])
    let window = try window(context, step)
    let shares = try quantiles(context.query["quantiles"] ?? defaultQuantiles)
    let end = history.time.wall / 1_000
    let range = (end - window)..<(end + 1)
    let isRegistered = context.isRegistered(id)
    let recorder = history.recorder
    return context.reply(
      history,
      { (reader) throws(StoreQueryError) -> [(start: Int64, rollup: LatencyRollup)]? in
        let name = HistorySubject.target(id)
        guard let reference = try reader.reference(to: name) else { return isRegistered ? [] : nil }
        return try reader.latencies(of: (name, reference), in: range, step: step, recorder)
      },
      { steps in
        guard let steps else { return context.answer(Problem(unknownTarget: id)) }
        let body = JSON.members([
          "id": .string(id), "step": .string(step.rawValue),
          "steps": .array(steps.map { HistoryRepresentation.latency($0, shares) }),
        ])
        return HTTPResponse(headers: RepresentationHeaders.headers(.json), body: .bytes(body.bytes + [0x0a]))
      })
  }

  private static func step(_ text: String?) throws(Problem) -> LatencyStep {
    guard let text else { return .hour }
    guard let step = LatencyStep(rawValue: text) else {
      let known = LatencyStep.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(.badRequest, "step must be one of \(known), got \(text.prefix(80).debugDescription)")
    }
    return step
  }

  /// The window in milliseconds; what is older than the samples or roll-ups of a step is not there.
  private static func window(_ context: RequestContext, _ step: LatencyStep) throws(Problem) -> Int64 {
    let standard =
      switch step {
      case .minute: HistoryTimeParameter.hour
      case .hour: HistoryTimeParameter.day
      case .day: 30 * HistoryTimeParameter.day
      }
    return (try HistoryTimeParameter.window("window", context) ?? standard) / 1_000
  }

  private static func quantiles(_ text: String) throws(Problem) -> [(text: String, share: Double)] {
    let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let shares = words.compactMap { word -> (text: String, share: Double)? in
      guard word.utf8.count <= 8, word.utf8.allSatisfy({ $0.isASCIIDigit || $0 == 0x2e }),
        let share = Double(word), (0...1).contains(share)
      else { return nil }
      return (word, share)
    }
    guard shares.count == words.count, Set(words).count == words.count, words.count <= quantileLimit else {
      throw Problem(
        .badRequest,
        "quantiles must be up to \(quantileLimit) numbers such as 0.5,0.99, got \(text.prefix(80).debugDescription)"
      )
    }
    return shares
  }
}
