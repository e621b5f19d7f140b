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
    let findings = checks.map(Finding.init)
    let body = exchange.media == .text ? text(findings, isVerbose) : json(findings)
    return HTTPResponse(
      status: Finding.overall(findings) == .fail ? 503 : 200, headers: StateHeaders.headers(exchange.media),
      body: .bytes(body))
  }

  /// What one check has found.
  private struct Finding {
    /// In the words of the draft (draft-inadarei-api-health-check), by how bad it is.
    enum Status: String {
      case pass, warn, fail

      /// The mark of a line of text.
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
    var complaint: String?

    init(_ check: HealthCheck) {
      name = check.name
      complaint = check.complaint()
      status = complaint == nil ? .pass : check.isWarning ? .warn : .fail
    }

    /// The worst of all.
    static func overall(_ findings: [Finding]) -> Status {
      if findings.contains(where: { $0.status == .fail }) { return .fail }
      return findings.contains { $0.status == .warn } ? .warn : .pass
    }
  }

  /// `ok`, or the list of checks when it was asked for or when something is wrong.
  private static func text(_ findings: [Finding], _ isVerbose: Bool) -> [UInt8] {
    let isListed = Finding.overall(findings) == .fail || (isVerbose && !findings.isEmpty)
    guard isListed else { return Array("ok\n".utf8) }
    return Array(findings.map { "[\($0.status.mark)] \($0.name) \($0.complaint ?? "ok")\n" }.joined().utf8)
  }

  /// The health+json draft (draft-inadarei-api-health-check).
  private static func json(_ findings: [Finding]) -> [UInt8] {
    let checks = findings.map { finding in
      JSON.Member(
        name: finding.name,
        value: .array([.members(["status": .string(finding.status.rawValue), "output": .text(finding.complaint)])]))
    }
    return JSON.members([
      "status": .string(Finding.overall(findings).rawValue), "checks": .object(checks),
    ]).bytes + [0x0a]
  }
}
