internal import JSONFormat
internal import HTTPRouting
internal import ReachabilityChecks

/// `GET /check` and `GET /explain`: one active check.
enum SingleCheckRoutes {
  static let all = [check, BatchCheckRoute.checks, explain, ProbeRoutes.probe]

  /// The parameters of `GET /check`.
  static let parameters: Set<String> = [
    "target", "module", "timeout", "count", "ip", "source", "interface", "maxAge", "require",
  ]

  static let check = NodeRoute(
    pattern: "/check", parameters: parameters, scope: .check, mediaTypes: [.json, .text],
    summary: "one active check now: /check?target=tcp://db:5432"
  ) { (context) throws(Problem) in
    let plan = try plan(context)
    let mustBeUp = try require(context)
    return .later { promise in
      let run = plan.run(context.service.checker) { outcomes in
        context.service.checkQuota.charge(outcomes, context.routed)
        if let denial = outcomes.lazy.compactMap(Problem.init(denialOf:)).first {
          return promise.fulfil(context.answer(denial))
        }
        let isUp = outcomes.allSatisfy { $0.result.state == .up }
        let body =
          context.media == .text
          ? Array(outcomes.map { CheckRepresentation.line($0) + "\n" }.joined().utf8)
          : CheckRepresentation.document(outcomes, text: plan.text).bytes + [0x0a]
        let headers = RepresentationHeaders.headers(context.media)
        promise.fulfil(
          HTTPResponse(status: mustBeUp && !isUp ? 503 : 200, headers: headers, body: .bytes(body)))
      }
      promise.onAbandonment { run.cancel() }
    }
  }

  static let explain = NodeRoute(
    pattern: "/explain", parameters: ["target", "module", "timeout", "ip", "source", "interface"],
    scope: .check, mediaTypes: [.json, .text], summary: "why a target is up or not, step by step"
  ) { (context) throws(Problem) in
    let plan = try plan(context)
    return .later { promise in
      let run = plan.run(context.service.checker) { outcomes in
        context.service.checkQuota.charge(outcomes, context.routed)
        let snapshot = context.service.monitor.snapshot
        guard let outcome = outcomes.first(where: { $0.result.state != .up }) ?? outcomes.first else { return }
        let explanation = Diagnosis(of: outcome, in: snapshot)
        let body =
          context.media == .text
          ? Array(CheckExplanationRepresentation.text(explanation).utf8)
          : CheckExplanationRepresentation.document(explanation, text: plan.text).bytes + [0x0a]
        promise.fulfil(HTTPResponse(headers: RepresentationHeaders.headers(context.media), body: .bytes(body)))
      }
      promise.onAbandonment { run.cancel() }
    }
  }

  private static func require(_ context: RequestContext) throws(Problem) -> Bool {
    guard let required = context.query["require"] else { return false }
    guard required == "up" else {
      throw Problem(.badRequest, "require must be up, got \(required.debugDescription)")
    }
    return true
  }

  private static func plan(_ context: RequestContext) throws(Problem) -> CheckPlan {
    let query = context.query
    let parameters = CheckPlan.Parameters(
      target: query["target"], module: query["module"], timeout: query["timeout"], count: query["count"],
      ip: query["ip"], source: query["source"], interface: query["interface"], maxAge: query["maxAge"])
    let targets = context.service.targets
    let plan: CheckPlan
    do throws(CheckPlan.InvalidParameters) {
      plan = try CheckPlan(parameters, modules: targets.modulesByName, policy: targets.policy())
    } catch {
      throw Problem(error)
    }
    try context.service.checkQuota.admit(plan.requests.count, context.routed)
    return plan
  }
}

extension Problem {
  /// Contains nothing about the target's name or addresses.
  static let policyDenied = Problem(
    .policyDenied,
    "the contact policy denies this target; policy.allow can permit it, unless policy.deny lists it or it is reachd's "
      + "own port")

  init(_ refusal: CheckPlan.InvalidParameters) {
    let code: Code = refusal.deniedModule != nil ? .moduleDenied : refusal.isTargetInvalid ? .badTarget : .badRequest
    self.init(code, refusal.description)
  }

  /// Creates the problem for a check that the module or the policy denied; nil for a check that ran.
  ///
  /// Where the module depends on the address, both responses are equal: they reveal nothing about a name's addresses.
  init?(denialOf outcome: CheckOutcome) {
    guard outcome.result.reason == .policyDenied else { return nil }
    if outcome.request.moduleVerdict == .allowed {
      self = .policyDenied
    } else {
      self.init(CheckPlan.InvalidParameters(deniedModule: outcome.request.module.name))
    }
  }
}
