internal import MicroHTTP

/// `/livez`, `/readyz`, `/healthz`: for orchestrators, in the manner of Kubernetes' own components;
/// open to everybody, because whoever restarts a service by them has no token.
enum HealthRoutes {
  private static let offers: [MediaType] = [.text, .healthJSON, .json]

  static let all: [Route] = [
    Route(
      pattern: "/livez", parameters: ["verbose"], scope: nil, offers: offers, summary: "is the process alive",
      handle: live),
    Route(
      pattern: "/readyz", parameters: ["verbose"], scope: nil, offers: offers, summary: "should it get traffic"
    ) { (exchange) throws(Problem) in
      .now(answer(exchange, exchange.service.health.ready, isVerbose: exchange.query["verbose"] != nil))
    },
    Route(
      pattern: "/readyz/{check}", scope: nil, offers: offers, summary: "one of readyz's checks"
    ) { (exchange) throws(Problem) in
      let name = exchange.path["check"] ?? ""
      let checks = exchange.service.health.ready
      guard let check = checks.first(where: { $0.name == name }) else {
        let known = checks.map(\.name).joined(separator: ", ")
        throw Problem(.notFound, "There is no check \(name.debugDescription); there are \(known).")
      }
      return .now(answer(exchange, [check], isVerbose: false))
    },
    Route(
      pattern: "/healthz", parameters: ["verbose"], scope: nil, offers: offers, summary: "the same as /livez",
      handle: live),
  ]

  private static let live: @Sendable (Exchange) throws(Problem) -> HTTPReply = { (exchange) throws(Problem) in
    .now(answer(exchange, exchange.service.health.live, isVerbose: exchange.query["verbose"] != nil))
  }

  private static func answer(_ exchange: Exchange, _ checks: [HealthCheck], isVerbose: Bool) -> HTTPResponse {
    let results = checks.map { (name: $0.name, complaint: $0.complaint()) }
    let isWell = results.allSatisfy { $0.complaint == nil }
    let body = exchange.media == .text ? text(results, isWell, isVerbose) : json(results, isWell)
    return HTTPResponse(
      status: isWell ? 200 : 503, headers: StateHeaders.headers(exchange.media), body: .bytes(body))
  }

  private typealias Results = [(name: String, complaint: String?)]

  /// `ok`, or the list of checks when it was asked for or when something is wrong.
  private static func text(_ results: Results, _ isWell: Bool, _ isVerbose: Bool) -> [UInt8] {
    guard !isWell || (isVerbose && !results.isEmpty) else { return Array("ok\n".utf8) }
    return Array(
      results.map { "[\($0.complaint == nil ? "+" : "-")] \($0.name) \($0.complaint ?? "ok")\n" }.joined().utf8)
  }

  /// The health+json draft (draft-inadarei-api-health-check).
  private static func json(_ results: Results, _ isWell: Bool) -> [UInt8] {
    let checks = results.map { result in
      JSON.Member(
        name: result.name,
        value: .array([
          .members([
            "status": .string(result.complaint == nil ? "pass" : "fail"), "output": .text(result.complaint),
          ])
        ]))
    }
    return JSON.members(["status": .string(isWell ? "pass" : "fail"), "checks": .object(checks)]).bytes + [0x0a]
  }
}
