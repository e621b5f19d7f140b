internal import Events
internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityChecks

/// `/gates`: everything that a program needs, as one answer.
enum GateRoutes {
  static let all = [list, get, put, delete, members]

  static let list = NodeRoute(
    pattern: "/gates", parameters: ["wait"], mediaTypes: [.json, .text], isCacheable: true,
    summary: "the gates with their states"
  ) { (context) throws(Problem) in
    let service = context.service
    let isText = context.media == .text
    return try ConditionalRequest(context.routed).reply(waitingOn: service.events.gateWaiters) {
      HTTPResponse(shared: service.gateDocuments.list(isText: isText))
    }
  }

  static let get = NodeRoute(
    pattern: "/gates/{id}", parameters: ["require", "wait"], mediaTypes: [.json, .text], opening: .gates,
    isCacheable: true, summary: "a gate with its state"
  ) { (context) throws(Problem) in
    let id = try id(context)
    let required = context.query["require"]
    guard required == nil || required == "open" else {
      throw Problem(.badRequest, "require must be open, got \((required ?? "").prefix(80).debugDescription)")
    }
    let service = context.service
    guard let present = service.schedule.gates.report(of: id) else { throw Problem(unknownGate: id) }
    // Read for each response, because the token may have been removed during a wait.
    let form: @Sendable () -> GateDocuments.Form = {
      GateDocuments.Form(
        isText: context.media == .text, isRedacted: !context.routed.isPermitted(.read), isTagged: required == nil)
    }
    // Conditions and waits are for clients that have the state; a probe must have an answer now (RFC 9110 §13.2.1).
    if required != nil {
      var response = HTTPResponse(shared: service.gateDocuments.document(present, form()))
      if present.status.state != .open { response.status = 503 }
      return .now(response)
    }
    return try ConditionalRequest(context.routed).reply(waitingOn: service.events.gateWaiters, topic: id) {
      guard let report = service.schedule.gates.report(of: id) else { return context.answer(Problem(unknownGate: id)) }
      return HTTPResponse(shared: service.gateDocuments.document(report, form()))
    }
  }

  static let put = NodeRoute(
    method: "PUT", pattern: "/gates/{id}", scope: .targetsWrite, mediaTypes: [.json],
    summary: "add a gate, or change one"
  ) { (context) throws(Problem) in
    let id = try id(context)
    let body = try RequestBody.json(context.request)
    let definition: GateDefinition
    do throws(TargetDecoder.InvalidFields) {
      definition = try GateDecoder.definition(body, id: id)
    } catch {
      throw Problem(fields: error.errors)
    }
    do throws(GateChangeError) {
      let (report, isNew) = try context.service.schedule.gates.put(
        definition, by: context.routed.account, if: TargetPrecondition(context, epoch: context.service.events.tagEpoch))
      let form = GateDocuments.Form(isText: false, isRedacted: false, isTagged: true)
      var response = HTTPResponse(shared: context.service.gateDocuments.document(report, form))
      if isNew {
        response.status = 201
        response.headers["Location"] = "/gates/\(id)"
      }
      return .now(response)
    } catch {
      throw Problem(error, id)
    }
  }

  static let delete = NodeRoute(
    method: "DELETE", pattern: "/gates/{id}", scope: .targetsWrite, mediaTypes: [.json], summary: "remove a gate"
  ) { (context) throws(Problem) in
    let id = try id(context)
    do throws(GateChangeError) {
      try context.service.schedule.gates.remove(
        id, by: context.routed.account, if: TargetPrecondition(context, epoch: context.service.events.tagEpoch))
    } catch {
      throw Problem(error, id)
    }
    return .now(HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"]))
  }

  static let members = NodeRoute(
    pattern: "/gates/{id}/members", parameters: ["state", "limit", "cursor"], mediaTypes: [.json],
    queueing: .whenLarge, summary: "the members of a gate with their states"
  ) { (context) throws(Problem) in
    let id = try id(context)
    let page = try TargetPage(context)
    let states = try context.routed.values("state", of: GateMemberState.self)
    guard let members = context.service.schedule.gates.members(of: id) else { throw Problem(unknownGate: id) }
    let found = members.filter { member in
      page.cursor.map { member.id > $0 } ?? true && states?.contains(member.state) ?? true
    }.sorted { $0.id < $1.id }
    let next = found.count > page.limit ? found[page.limit - 1].id : nil
    let elements = found.prefix(page.limit).map { member in
      JSON.members(["id": .string(member.id), "state": .string(member.state.rawValue)])
    }
    var headers = RepresentationHeaders.headers(.json)
    if let next { headers["Link"] = page.link("/gates/\(id)/members", after: next, keeping: ["state"], context) }
    let body = JSON.members(["members": .array(elements), "next": .text(next)])
    return .now(HTTPResponse(headers: headers, body: .bytes(body.bytes + [0x0a])))
  }

  private static func id(_ context: RequestContext) throws(Problem) -> String { try context.gateID() }
}

extension RequestContext {
  /// The id of the gate in the path.
  func gateID() throws(Problem) -> String {
    let id = path["id"] ?? ""
    guard TargetSpec.isID(id) else { throw Problem(invalidID: id, of: "gate") }
    return id
  }
}

extension Problem {
  /// Creates the problem for an id without a gate.
  init(unknownGate id: String) {
    self.init(.notFound, "no gate has the id \(id.debugDescription); GET /gates lists all gates")
  }

  /// Creates the problem for a change of a gate that is refused.
  init(_ refusal: GateChangeError, _ id: String) {
    switch refusal {
    case .refused(.missing): self.init(unknownGate: id)
    case .refused(.precondition):
      self.init(.preconditionFailed, "the gate \(id) does not match If-Match or If-None-Match; GET it and retry")
    case .refused(.configured):
      self.init(.conflict, "the gate \(id) is defined in the configuration file; change it there")
    case .refused(let refusal): self.init(refusal, id)
    case .tooMany:
      self.init(.quotaExceeded, "there are \(GateSpec.Bounds.gates) gates, as many as possible; remove one")
    case .tooManyNames:
      self.init(
        .quotaExceeded,
        "the gates would name more than \(GateSpec.Bounds.allTargets) targets; select targets by labels, or remove a gate"
      )
    }
  }
}
