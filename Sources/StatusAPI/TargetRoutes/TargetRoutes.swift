internal import Events
internal import JSONFormat
internal import HTTPRouting
package import ReachabilityChecks

/// `/targets/{id}`: one registered target.
enum TargetRoutes {
  static let all = [
    TargetCollectionRoutes.list, TargetCollectionRoutes.post, TargetOverviewRoute.overview, get, put, delete,
    TargetExplanationRoute.explain, check, pause, resume,
  ]

  static let get = NodeRoute(
    pattern: "/targets/{id}", parameters: ["wait"], mediaTypes: [.json], summary: "one registered target with its state"
  ) { (context) throws(Problem) in
    let id = try report(context).definition.id
    let events = context.service.events
    return try ConditionalRequest(context.routed).reply(waitingOn: events.targetWaiters, topic: id) {
      let last = events.lastEvent
      guard let report = context.service.targets.schedule.report(of: id) else {
        return context.answer(Problem(.missing, id))
      }
      var response = answer(report, context)
      response.headers["Last-Event-ID"] = last.description
      return response
    }
  }

  static let put = NodeRoute(
    method: "PUT", pattern: "/targets/{id}", scope: .targetsWrite, mediaTypes: [.json],
    summary: "register a target, or change one"
  ) { (context) throws(Problem) in
    let id = try id(context)
    let body = try RequestBody.json(context.request)
    let definition: TargetDefinition
    do throws(TargetDecoder.InvalidFields) {
      let modules = context.service.targets.modules(for: id)
      definition = try TargetDecoder.definition(body, at: "", id: id, modules: modules)
    } catch {
      throw Problem(fields: error.errors)
    }
    if let denial = context.service.targets.denial(definition, context.service.targets.policy()) { throw denial }
    let schedule = context.service.targets.schedule
    switch schedule.put(definition, by: context.routed.account, if: TargetPrecondition(context)) {
    case .created(let report): return .now(answer(report, context, status: 201))
    case .replaced(let report): return .now(answer(report, context))
    case .rejected(let refusal): throw Problem(refusal, id)
    }
  }

  static let delete = NodeRoute(
    method: "DELETE", pattern: "/targets/{id}", parameters: ["force"], scope: .targetsWrite, mediaTypes: [.json],
    summary: "remove a registered target"
  ) { (context) throws(Problem) in
    let id = try id(context)
    let isForced = try isForced(context)
    do throws(ScheduleChangeError) {
      try context.service.targets.schedule.remove(
        id, by: context.routed.account, if: TargetPrecondition(context), removingDependencies: isForced)
    } catch {
      throw Problem(error, id)
    }
    return .now(HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"]))
  }

  private static func isForced(_ context: RequestContext) throws(Problem) -> Bool {
    switch context.query["force"] {
    case nil, "false": return false
    case "true": return true
    case .some(let text):
      throw Problem(.badRequest, "the parameter force cannot be \(text.debugDescription); expected true or false")
    }
  }

  static let check = NodeRoute(
    method: "POST", pattern: "/targets/{id}/check", scope: .check, mediaTypes: [.json],
    summary: "check a registered target now"
  ) { (context) throws(Problem) in
    let report = try report(context)
    guard !report.definition.isPaused else {
      throw Problem(.conflict, "the target is paused; resume it, or use GET /check")
    }
    try context.service.checkQuota.admit(1, context.routed)
    return .later { promise in
      let id = report.definition.id
      let schedule = context.service.targets.schedule
      let gone = Problem(.conflict, "the target was removed or paused during the check")
      let isUnderWay = schedule.check(id) { outcome in
        guard outcome != nil, let report = schedule.report(of: id) else {
          return promise.fulfil(context.answer(gone))
        }
        promise.fulfil(answer(report, context))
      }
      if !isUnderWay { promise.fulfil(context.answer(gone)) }
    }
  }

  static let pause = NodeRoute(
    method: "POST", pattern: "/targets/{id}/pause", scope: .targetsWrite, mediaTypes: [.json],
    summary: "stop checking a registered target", handle: { (context) throws(Problem) in try pause(context, true) })

  static let resume = NodeRoute(
    method: "POST", pattern: "/targets/{id}/resume", scope: .targetsWrite, mediaTypes: [.json],
    summary: "check a paused target again", handle: { (context) throws(Problem) in try pause(context, false) })

  private static func pause(_ context: RequestContext, _ isPaused: Bool) throws(Problem) -> HTTPReply {
    let id = try id(context)
    // A resumed target is checked immediately, and a configured target is not charged to the client's account.
    if !isPaused, let report = context.service.targets.schedule.report(of: id), report.definition.isPaused,
      report.origin == .configuration
    {
      try context.service.checkQuota.admit(1, context.routed)
    }
    do throws(ScheduleChangeError) {
      let report = try context.service.targets.schedule.pause(
        id, isPaused, by: context.routed.account, if: TargetPrecondition(context))
      return .now(answer(report, context))
    } catch {
      throw Problem(error, id)
    }
  }

  // MARK: - Parameters and responses

  private static func id(_ context: RequestContext) throws(Problem) -> String {
    let id = context.path["id"] ?? ""
    guard TargetSpec.isID(id) else { throw Problem(invalidID: id) }
    return id
  }

  static func report(_ context: RequestContext) throws(Problem) -> TargetReport {
    let id = try id(context)
    guard let report = context.service.targets.schedule.report(of: id) else { throw Problem(.missing, id) }
    return report
  }

  static func answer(_ report: TargetReport, _ context: RequestContext, status: Int = 200) -> HTTPResponse {
    let visibility = TargetVisibility(context.routed)
    var headers = RepresentationHeaders.ofTargets(.json)
    headers["ETag"] = EntityTag(report, visibility, context).description
    if status == 201 { headers["Location"] = "/targets/\(report.definition.id)" }
    let body = TargetRepresentation.document(report, visibility, context.service.monitor).bytes + [0x0a]
    return HTTPResponse(status: status, headers: headers, body: .bytes(body))
  }
}

extension Problem {
  /// Children of a target that a message names.
  private static let listedChildren = 32

  /// Creates the problem for a change that the schedule refuses.
  package init(_ refusal: ScheduleChangeError, _ id: String) {
    switch refusal {
    case .missing: self.init(.notFound, "no target has the id \(id.debugDescription); GET /targets lists all targets")
    case .precondition:
      self.init(.preconditionFailed, "the target \(id) does not match If-Match or If-None-Match; GET it and retry")
    case .configured:
      self.init(.conflict, "the target \(id) is defined in the configuration file or by the fleet; change it there")
    case .dependency(let fault):
      self.init(fields: [FieldError(pointer: "/dependsOn", detail: fault.description)])
    case .hasChildren(let children):
      let listed = children.prefix(Self.listedChildren).joined(separator: ", ")
      let more = children.count > Self.listedChildren ? " and \(children.count - Self.listedChildren) more" : ""
      self.init(
        .conflict,
        "targets depend on \(id): \(listed)\(more); change them, or repeat with ?force=true to remove it from them")
    case .quota(let excess): self.init(excess)
    case .rateLimited(let seconds, let excess):
      self.init(.rateLimited, Problem(excess).detail, headers: ["Retry-After": String(seconds)])
    }
  }
}
