internal import JSONTree
internal import MicroHTTP
internal import NetworkReachability
internal import ReachabilityChecks

/// `/targets/{id}`: one registered target.
enum TargetRoutes {
  static let all = [TargetListRoutes.list, TargetListRoutes.post, get, put, delete, check, pause, resume]

  static let get = Route(
    pattern: "/targets/{id}", parameters: ["wait"], offers: [.json], summary: "one registered target with its state"
  ) { (exchange) throws(Problem) in
    let id = try report(exchange).definition.id
    let feed = exchange.service.feed
    let visibility = TargetVisibility(exchange)
    return try ConditionalReply(exchange).reply(in: feed.targetRoom, about: id) {
      let last = feed.lastEvent
      guard let report = exchange.service.targets.schedule.report(of: id) else {
        return exchange.answer(Problem(.missing, id))
      }
      var response = answer(report, exchange, visibility)
      response.headers["Last-Event-ID"] = last.description
      return response
    }
  }

  static let put = Route(
    method: "PUT", pattern: "/targets/{id}", scope: .targetsWrite, offers: [.json],
    summary: "register a target, or change one"
  ) { (exchange) throws(Problem) in
    let id = try id(exchange)
    let body = try RequestBody.json(exchange.request)
    let definition: TargetDefinition
    do throws(TargetReader.Faults) {
      let modules = exchange.service.targets.modules(for: id)
      definition = try TargetReader.definition(body, at: "", id: id, modules: modules)
    } catch {
      throw Problem(fields: error.errors)
    }
    if let denial = exchange.service.targets.denial(definition, exchange.service.targets.policy()) { throw denial }
    let schedule = exchange.service.targets.schedule
    switch schedule.put(definition, by: exchange.account, if: TargetTag.precondition(exchange)) {
    case .created(let report): return .now(answer(report, exchange, status: 201))
    case .replaced(let report): return .now(answer(report, exchange))
    case .rejected(let refusal): throw Problem(refusal, id)
    }
  }

  static let delete = Route(
    method: "DELETE", pattern: "/targets/{id}", scope: .targetsWrite, offers: [.json],
    summary: "forget a registered target"
  ) { (exchange) throws(Problem) in
    let id = try id(exchange)
    do throws(TargetChangeError) {
      try exchange.service.targets.schedule.remove(id, if: TargetTag.precondition(exchange))
    } catch {
      throw Problem(error, id)
    }
    return .now(HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"]))
  }

  static let check = Route(
    method: "POST", pattern: "/targets/{id}/check", scope: .check, offers: [.json],
    summary: "check a registered target now"
  ) { (exchange) throws(Problem) in
    let report = try report(exchange)
    guard !report.definition.isPaused else {
      throw Problem(.conflict, "The target is paused; resume it, or ask GET /check.")
    }
    try CheckRoutes.admit(1, exchange)
    let visibility = TargetVisibility(exchange)
    return .later { promise in
      let id = report.definition.id
      let schedule = exchange.service.targets.schedule
      let gone = Problem(.conflict, "The target was removed or paused meanwhile.")
      let isUnderWay = schedule.check(id) { outcome in
        guard outcome != nil, let report = schedule.report(of: id) else {
          return promise.fulfil(exchange.answer(gone))
        }
        promise.fulfil(answer(report, exchange, visibility))
      }
      if !isUnderWay { promise.fulfil(exchange.answer(gone)) }
    }
  }

  static let pause = Route(
    method: "POST", pattern: "/targets/{id}/pause", scope: .targetsWrite, offers: [.json],
    summary: "stop checking a registered target", handle: { (exchange) throws(Problem) in try pause(exchange, true) })

  static let resume = Route(
    method: "POST", pattern: "/targets/{id}/resume", scope: .targetsWrite, offers: [.json],
    summary: "check a paused target again", handle: { (exchange) throws(Problem) in try pause(exchange, false) })

  private static func pause(_ exchange: Exchange, _ isPaused: Bool) throws(Problem) -> HTTPReply {
    let id = try id(exchange)
    // It is checked immediately, and a target of the file is not charged to the caller.
    if !isPaused, let report = exchange.service.targets.schedule.report(of: id), report.definition.isPaused,
      report.origin == .configuration
    {
      try CheckRoutes.admit(1, exchange)
    }
    do throws(TargetChangeError) {
      let report = try exchange.service.targets.schedule.pause(id, isPaused, if: TargetTag.precondition(exchange))
      return .now(answer(report, exchange))
    } catch {
      throw Problem(error, id)
    }
  }

  // MARK: - Parts

  private static func id(_ exchange: Exchange) throws(Problem) -> String {
    let id = exchange.path["id"] ?? ""
    guard TargetDraft.isID(id) else { throw Problem(noID: id) }
    return id
  }

  private static func report(_ exchange: Exchange) throws(Problem) -> TargetReport {
    let id = try id(exchange)
    guard let report = exchange.service.targets.schedule.report(of: id) else { throw Problem(.missing, id) }
    return report
  }

  static func answer(
    _ report: TargetReport, _ exchange: Exchange, status: Int = 200, _ visibility: TargetVisibility? = nil
  ) -> HTTPResponse {
    let visibility = visibility ?? TargetVisibility(exchange)
    var headers = StateHeaders.ofTargets(.json)
    headers["ETag"] = TargetTag(report, visibility, exchange).description
    if status == 201 { headers["Location"] = "/targets/\(report.definition.id)" }
    let body = TargetBody.document(report, visibility, exchange.service.monitor).bytes + [0x0a]
    return HTTPResponse(status: status, headers: headers, body: .bytes(body))
  }
}

extension Problem {
  /// What should be the id of a target cannot be one.
  init(noID text: String) {
    self.init(
      .badRequest, "\(text.prefix(80).debugDescription) is no id; an id is 1 to 63 of a-z, 0-9, dot, _ and hyphen.")
  }

  /// Several fields of a body are wrong.
  init(fields: [FieldError]) {
    let list = fields.prefix(3).map { "\($0.pointer.isEmpty ? "the body" : $0.pointer): \($0.detail)" }
    let more = fields.count > 3 ? "; and \(fields.count - 3) more" : ""
    self.init(.invalid, list.joined(separator: "; ") + more + ".")
    errors = fields
  }

  /// Puts what the schedule refuses into our words.
  init(_ refusal: TargetChangeError, _ id: String) {
    switch refusal {
    case .missing: self.init(.notFound, "There is no target \(id.debugDescription); GET /targets lists what there is.")
    case .precondition:
      self.init(.preconditionFailed, "The target \(id) is not as the request expects; GET it and try again.")
    case .configured:
      self.init(.conflict, "The target \(id) stands in the configuration file; change it there and reload.")
    case .quota(let excess): self.init(excess)
    }
  }
}
