internal import JSONTree
internal import MicroHTTP
internal import NetworkReachability

/// `POST /checks`: many targets asked now.
enum ChecksRoute {
  /// The most checks of one request.
  static let most = 1_000

  static let checks = Route(
    method: "POST", pattern: "/checks", scope: .check, offers: [.json, .ndjson],
    summary: "up to 1000 active checks now: an array of targets in, outcomes out"
  ) { (exchange) throws(Problem) in
    let plans = try plans(exchange)
    try CheckRoutes.admit(plans.reduce(0) { $0 + $1.requests.count }, exchange)
    let checker = exchange.service.checks.checker
    if exchange.media == .ndjson { return .now(exchange.answer(lines(plans, checker))) }
    return .later { promise in
      let gathered = Gathered(count: plans.count) { documents in
        let body = JSON.members(["results": .array(documents)]).bytes + [0x0a]
        promise.fulfil(exchange.answer(HTTPResponse(headers: StateHeaders.headers(.json), body: .bytes(body))))
      }
      for (index, plan) in plans.enumerated() {
        plan.run(checker) { gathered.put(CheckBody.document($0, text: plan.text), at: index) }
      }
      if plans.isEmpty { gathered.finish() }
    }
  }

  /// A line for each check, as they end.
  private static func lines(_ plans: [CheckPlan], _ checker: Checker) -> HTTPResponse {
    let chunks = HTTPChunks()
    let gathered = Gathered(count: plans.count) { _ in chunks.finish() }
    for (index, plan) in plans.enumerated() {
      let cancellation = plan.run(checker) { outcomes in
        chunks.append(CheckBody.document(outcomes, text: plan.text).bytes + [0x0a])
        gathered.put(.null, at: index)
      }
      _ = cancellation
    }
    if plans.isEmpty { gathered.finish() }
    return HTTPResponse(headers: StateHeaders.headers(.ndjson), body: .chunks(chunks))
  }
}
