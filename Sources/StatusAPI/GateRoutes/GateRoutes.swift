internal import Events
internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityChecks

/// `/gates`: everything that a program needs, as one answer.
enum GateRoutes {
  static let all = [list, get, put, delete, members]

  /// The default and maximum number of members per page.
  private static let defaultLimit = 100
  private static let limitMaximum = 1_000

  static let list = NodeRoute(
    pattern: "/gates", parameters: ["wait"], mediaTypes: [.json, .text], isCacheable: true,
    summary: "the gates with their states"
  ) { (context) throws(Problem) in
    let service = context.service
    let isText = context.media == .text
    return try ConditionalRequest(context.routed).reply(waitingOn: service.events.gateWaiters) {
      HTTPResponse(shared: service.gateDocuments.list(service.schedule.gates.reports, isText: isText))
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
    let form = GateDocuments.Form(
      isText: context.media == .text, isRedacted: !context.routed.isPermitted(.read), isTagged: required == nil)
    // Conditions and waits are for clients that have the state; a probe must have an answer now (RFC 9110 §13.2.1).
    if required != nil {
      var response = HTTPResponse(shared: service.gateDocuments.document(present, form))
      if present.status.state != .open { response.status = 503 }
      return .now(response)
    }
    return try ConditionalRequest(context.routed).reply(waitingOn: service.events.gateWaiters, topic: id) {
      guard let report = service.schedule.gates.report(of: id) else { return context.answer(Problem(unknownGate: id)) }
      return HTTPResponse(shared: service.gateDocuments.document(report, form))
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
    let limit = try ListLimit.parse(context.query["limit"], defaultLimit, limitMaximum)
    let cursor = context.query["cursor"]
    if let cursor, !TargetSpec.isID(cursor) {
      throw Problem(.badRequest, "invalid cursor \(cursor.prefix(80).debugDescription); use the URL of the Link header")
    }
    let states = try states(context.query["state"])
    guard let members = context.service.schedule.gates.members(of: id) else { throw Problem(unknownGate: id) }
    let found = members.filter { member in
      cursor.map { member.key > $0 } ?? true && states.contains(member.value)
    }.sorted { $0.key < $1.key }
    let next = found.count > limit ? found[limit - 1].key : nil
    let elements = found.prefix(limit).map { member in
      JSON.members(["id": .string(member.key), "state": .string(member.value.rawValue)])
    }
    var headers = RepresentationHeaders.headers(.json)
    if let next {
      let state = context.query["state"].map { "state=\($0)&" } ?? ""
      headers["Link"] = "</gates/\(id)/members?\(state)limit=\(limit)&cursor=\(next)>; rel=\"next\""
    }
    let body = JSON.members(["members": .array(elements), "next": .text(next)])
    return .now(HTTPResponse(headers: headers, body: .bytes(body.bytes + [0x0a])))
  }

  private static func states(_ text: String?) throws(Problem) -> Set<GateMemberState> {
    guard let text else { return Set(GateMemberState.allCases) }
    var states: Set<GateMemberState> = []
    for word in ListParameter.words(text) {
      guard let state = GateMemberState(rawValue: String(word)) else {
        let known = GateMemberState.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(
          .badRequest, "unknown state \(String(word.prefix(80)).debugDescription); one of \(known) is required")
      }
      states.insert(state)
    }
    return states
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
    }
  }
}
