internal import JSONFormat
internal import HTTPRouting

/// `/livez`, `/readyz`, `/healthz` for orchestrators, in the format of Kubernetes' own components.
///
/// They need no token, because an orchestrator has none.
enum HealthRoutes {
  private static let mediaTypes: [MediaType] = [.text, .healthJSON, .json]

  static let all: [NodeRoute] = [
    NodeRoute(
      pattern: "/livez", parameters: ["verbose"], scope: nil, mediaTypes: mediaTypes,
      summary: "whether the process is alive",
      handle: live),
    NodeRoute(
      pattern: "/readyz", parameters: ["verbose"], scope: nil, mediaTypes: mediaTypes,
      summary: "whether the service can handle requests"
    ) { (context) throws(Problem) in
      .now(answer(context, context.service.health.ready, isVerbose: context.query["verbose"] != nil))
    },
    NodeRoute(
      pattern: "/readyz/{check}", scope: nil, mediaTypes: mediaTypes, summary: "one of readyz's checks"
    ) { (context) throws(Problem) in
      let name = context.path["check"] ?? ""
      let checks = context.service.health.ready
      guard let check = checks.first(where: { $0.name == name }) else {
        let known = checks.map(\.name).joined(separator: ", ")
        throw Problem(.notFound, "unknown health check \(name.debugDescription); expected one of \(known)")
      }
      return .now(answer(context, [check], isVerbose: false))
    },
    NodeRoute(
      pattern: "/healthz", parameters: ["verbose"], scope: nil, mediaTypes: mediaTypes, summary: "the same as /livez",
      handle: live),
  ]

  private static let live: @Sendable (RequestContext) throws(Problem) -> HTTPReply = { (context) throws(Problem) in
    .now(answer(context, context.service.health.live, isVerbose: context.query["verbose"] != nil))
  }

  private static func answer(_ context: RequestContext, _ checks: [HealthCheck], isVerbose: Bool) -> HTTPResponse {
    let results = checks.map(HealthResult.init)
    let body = context.media == .text ? text(results, isVerbose) : json(results)
    return HTTPResponse(
      status: HealthResult.overall(results) == .fail ? 503 : 200, headers: RepresentationHeaders.headers(context.media),
      body: .bytes(body))
  }

  private struct HealthResult {
    /// The status names of draft-inadarei-api-health-check, in order of severity.
    enum Status: String {
      case pass, warn, fail

      /// The mark in a line of text.
      var mark: String {
        switch self {
        case .pass: "+"
        case .warn: "!"
        case .fail: "-"
        }
      }
    }

    var name: String
    var status: Status
    var diagnostic: String?

    init(_ check: HealthCheck) {
      name = check.name
      let result = check.result()
      diagnostic = result.diagnostic
      status =
        switch result {
        case .pass: .pass
        case .warn: .warn
        case .fail: .fail
        }
    }

    /// Returns the most severe status.
    static func overall(_ results: [HealthResult]) -> Status {
      if results.contains(where: { $0.status == .fail }) { return .fail }
      return results.contains { $0.status == .warn } ? .warn : .pass
    }
  }

  /// Returns `ok`, or the list of checks if it was requested or one fails.
  private static func text(_ results: [HealthResult], _ isVerbose: Bool) -> [UInt8] {
    let isListed = HealthResult.overall(results) == .fail || (isVerbose && !results.isEmpty)
    guard isListed else { return Array("ok\n".utf8) }
    return Array(results.map { "[\($0.status.mark)] \($0.name) \($0.diagnostic ?? "ok")\n" }.joined().utf8)
  }

  /// Returns the health+json document (draft-inadarei-api-health-check).
  private static func json(_ results: [HealthResult]) -> [UInt8] {
    let checks = results.map { result in
      JSON.Member(
        name: result.name,
        value: .array([.members(["status": .string(result.status.rawValue), "output": .text(result.diagnostic)])]))
    }
    return JSON.members([
      "status": .string(HealthResult.overall(results).rawValue), "checks": .object(checks),
    ]).bytes + [0x0a]
  }
}
