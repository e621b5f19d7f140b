internal import MicroHTTP
internal import NetworkReachability
internal import ReachabilityChecks

/// `GET /check` and `GET /explain`: one target asked now.
enum CheckRoutes {
  static let all = [check, ChecksRoute.checks, explain, ProbeRoutes.probe]

  /// What `GET /check` understands, beyond the target.
  static let parameters: Set<String> = [
    "target", "module", "timeout", "count", "ip", "source", "interface", "maxAge", "require",
  ]

  static let check = Route(
    pattern: "/check", parameters: parameters, scope: .check, offers: [.json, .text],
    summary: "one active check now: /check?target=tcp://db:5432"
  ) { (exchange) throws(Problem) in
    let plan = try plan(exchange)
    let mustBeUp = try require(exchange)
    return .later { promise in
      let run = plan.run(exchange.service.checks.checker) { outcomes in
        if let denial = outcomes.lazy.compactMap(Problem.init(denialOf:)).first {
          return promise.fulfil(exchange.answer(denial))
        }
        let isUp = outcomes.allSatisfy { $0.result.state == .up }
        let body =
          exchange.media == .text
          ? Array(outcomes.map { CheckBody.line($0) + "\n" }.joined().utf8)
          : CheckBody.document(outcomes, text: plan.text).bytes + [0x0a]
        let headers = StateHeaders.headers(exchange.media)
        promise.fulfil(
          HTTPResponse(status: mustBeUp && !isUp ? 503 : 200, headers: headers, body: .bytes(body)))
      }
      promise.whenAbandoned { run.cancel() }
    }
  }

  static let explain = Route(
    pattern: "/explain", parameters: ["target", "module", "timeout", "ip", "source", "interface"],
    scope: .check, offers: [.json, .text], summary: "what stands between this machine and a target, rung by rung"
  ) { (exchange) throws(Problem) in
    let plan = try plan(exchange)
    return .later { promise in
      let run = plan.run(exchange.service.checks.checker) { outcomes in
        let snapshot = exchange.service.monitor.snapshot
        guard let outcome = outcomes.first(where: { $0.result.state != .up }) ?? outcomes.first else { return }
        let explanation = Diagnosis(of: outcome, in: snapshot)
        let body =
          exchange.media == .text
          ? Array(ExplanationBody.text(explanation).utf8)
          : ExplanationBody.document(explanation, text: plan.text).bytes + [0x0a]
        promise.fulfil(HTTPResponse(headers: StateHeaders.headers(exchange.media), body: .bytes(body)))
      }
      promise.whenAbandoned { run.cancel() }
    }
  }

  private static func require(_ exchange: Exchange) throws(Problem) -> Bool {
    guard let required = exchange.query["require"] else { return false }
    guard required == "up" else {
      throw Problem(.badRequest, "require=\(required.debugDescription) is not known; require=up is.")
    }
    return true
  }

  private static func plan(_ exchange: Exchange) throws(Problem) -> CheckPlan {
    let query = exchange.query
    let wish = CheckPlan.Wish(
      target: query["target"], module: query["module"], timeout: query["timeout"], count: query["count"],
      ip: query["ip"], source: query["source"], interface: query["interface"], maxAge: query["maxAge"])
    let desk = exchange.service.checks
    let plan: CheckPlan
    do throws(CheckPlan.Refusal) {
      plan = try CheckPlan(wish, modules: desk.modules, policy: desk.policy())
    } catch {
      throw Problem(error)
    }
    try admit(plan.requests.count, exchange)
    return plan
  }

  /// Counts checks against the limits of the caller's account, and against the client's quota unless a token has a rate
  /// of its own.
  static func admit(_ count: Int, _ exchange: Exchange) throws(Problem) {
    let schedule = exchange.service.targets.schedule
    if schedule.limits.own(exchange.account).checksPerSecond == nil { try admitClient(count, exchange) }
    switch schedule.admit(count, for: exchange.account) {
    case .admitted: return
    case .later(let seconds, let excess):
      throw Problem(.rateLimited, Problem(excess).detail, headers: ["Retry-After": String(seconds)])
    case .never(let excess): throw Problem(excess)
    }
  }

  private static func admitClient(_ count: Int, _ exchange: Exchange) throws(Problem) {
    guard count <= Int(CheckQuota.burst) else {
      throw Problem(
        .badRequest,
        "These are \(count) checks, with each count and both families; \(Int(CheckQuota.burst)) at once are possible.")
    }
    guard let seconds = exchange.service.checks.quota.take(count, client: exchange.client) else { return }
    throw Problem(
      .rateLimited, "More than \(Int(CheckQuota.perSecond)) checks a second over a while; try again.",
      headers: ["Retry-After": String(seconds)])
  }
}

extension Problem {
  /// Says nothing about the target's name or addresses.
  static let policyDenied = Problem(
    .policyDenied, "Callers may not contact this target; policy.allow in the configuration opens it.")

  /// Puts a refused wish for a check into our words.
  init(_ refusal: CheckPlan.Refusal) {
    let code: Code = refusal.deniedModule != nil ? .moduleDenied : refusal.isTarget ? .badTarget : .badRequest
    self.init(code, refusal.description)
  }

  /// Why a check was not made: by the module or by the policy; nil for one that was made.
  ///
  /// Where the module depends on the address, the answer is the same for both: it says nothing about a name's addresses.
  init?(denialOf outcome: CheckOutcome) {
    guard outcome.result.reason == .policyDenied else { return nil }
    if outcome.request.moduleVerdict == .allowed {
      self = .policyDenied
    } else {
      self.init(CheckPlan.Refusal(deniedModule: outcome.request.module.name))
    }
  }
}
