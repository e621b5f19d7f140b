internal import JSONFormat
internal import HTTPRouting
internal import ReachabilityChecks

/// `/targets`: the list of registered targets, and the registration of one or many.
enum TargetCollectionRoutes {
  static let list = NodeRoute(
    pattern: "/targets", parameters: ["state", "label", "limit", "cursor", "wait"], mediaTypes: [.json, .text],
    isCompressible: true, queueing: .whenLarge, summary: "the registered targets with their states"
  ) { (context) throws(Problem) in
    let page = try TargetListQuery(context)
    let room = context.service.events.targetWaiters
    return try ConditionalRequest(context.routed).reply(
      waitingOn: room, when: { page.changeFilter(context) }, tag: { page.tag(context) }, { page.response(context) })
  }

  static let post = NodeRoute(
    method: "POST", pattern: "/targets", scope: .targetsWrite, mediaTypes: [.json],
    summary: "register a target, or register and change many"
  ) { (context) throws(Problem) in
    let body = try RequestBody.json(context.request)
    if let items = body.elements { return .now(answer(items, at: "", context)) }
    if let targets = body["targets"] { return .now(answer(try items(targets, of: body), at: "/targets", context)) }
    let definition: TargetDefinition
    do throws(TargetDecoder.InvalidFields) {
      definition = try TargetDecoder.definition(body, at: "", modules: context.service.targets.modules)
    } catch {
      throw Problem(fields: error.errors)
    }
    if let denial = context.service.targets.denial(definition, context.service.targets.policy()) { throw denial }
    switch context.service.targets.schedule.put(definition, by: context.routed.account, if: .absent) {
    case .created(let report), .replaced(let report):
      return .now(TargetRoutes.answer(report, context, status: 201))
    case .rejected(.precondition):
      throw Problem(.conflict, "the target \(definition.id) exists; use PUT /targets/\(definition.id) to change it")
    case .rejected(let refusal): throw Problem(refusal, definition.id)
    }
  }

  // MARK: - Batch registration

  /// Returns the elements of an object that has the form of a response to GET.
  private static func items(_ targets: JSON, of body: JSON) throws(Problem) -> [JSON] {
    let others = (body.members ?? []).filter { !["targets", "next"].contains($0.name) }
    guard others.isEmpty else {
      throw Problem(
        fields: others.map {
          FieldError(pointer: FieldError.pointerSegment($0.name), detail: "there is no such field beside targets")
        })
    }
    guard let items = targets.elements else {
      throw Problem(fields: [FieldError(pointer: "/targets", detail: "expected an array, got \(targets.kind)")])
    }
    return items
  }

  /// Registers each target separately: an invalid one does not prevent the others.
  private static func answer(_ items: [JSON], at pointer: String, _ context: RequestContext) -> HTTPResponse {
    var seen: Set<String> = []
    let policy = context.service.targets.policy()
    let read = items.enumerated().map { index, item in
      Result { () throws(Problem) in
        let location = "\(pointer)/\(index)"
        let definition = try definition(item, at: location, context)
        guard seen.insert(definition.id).inserted else {
          throw Problem(
            fields: [FieldError(pointer: location + "/id", detail: "the id \(definition.id) occurs more than once")])
        }
        if let denial = context.service.targets.denial(definition, policy) { throw denial }
        return definition
      }
    }
    let placements = context.service.targets.schedule.put(
      read.compactMap { try? $0.get() }, by: context.routed.account)
    var placed = placements.makeIterator()
    let results = zip(items, read).map { item, read -> JSON in
      switch read {
      case .failure(let problem): return failure(item["id"]?.string, problem)
      case .success(let definition):
        switch placed.next() {
        case .created(let report): return success(report, 201, context)
        case .replaced(let report): return success(report, 200, context)
        case .rejected(let refusal): return failure(definition.id, Problem(refusal, definition.id))
        case nil: return failure(definition.id, Problem(.missing, definition.id))
        }
      }
    }
    let body = JSON.members(["results": .array(results)])
    return HTTPResponse(headers: RepresentationHeaders.headers(.json), body: .bytes(body.bytes + [0x0a]))
  }

  private static func definition(
    _ item: JSON, at pointer: String, _ context: RequestContext
  ) throws(Problem) -> TargetDefinition {
    do throws(TargetDecoder.InvalidFields) {
      let modules = context.service.targets.modules(for: item["id"]?.string)
      return try TargetDecoder.definition(item, at: pointer, modules: modules)
    } catch {
      throw Problem(fields: error.errors)
    }
  }

  private static func failure(_ id: String?, _ problem: Problem) -> JSON {
    .members([
      "id": .text(id), "status": .integer(Int64(problem.status)), "code": .string(problem.code.rawValue),
      "detail": .string(problem.detail), "errors": .array(problem.errors.map(\.document)),
    ])
  }

  private static func success(_ report: TargetReport, _ status: Int64, _ context: RequestContext) -> JSON {
    .members([
      "id": .string(report.definition.id), "status": .integer(status),
      "etag": .string(EntityTag(report, .full, context).description),
    ])
  }
}
