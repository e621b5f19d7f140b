internal import HTTPRouting
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet
internal import StatusAPI

/// `/fleet/targets`: what the agents check.
enum FleetTargetRoutes {
  static let all = [list, post, get, put, delete]

  static let list = FleetRoute(
    pattern: "/fleet/targets", parameters: ["verdict", "limit", "cursor", "wait"], mediaTypes: [.json],
    isCompressible: true, queueing: .always, summary: "the targets of the fleet with their verdicts"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let limit = try ListLimit.parse(
      context.query["limit"], TargetListQuery.defaultLimit, TargetListQuery.limitMaximum)
    let verdict = try context.routed.value("verdict", of: FleetVerdict.self)
    let cursor = context.query["cursor"] ?? ""
    let page: @Sendable (FleetSnapshot) -> FleetTargetPage = { snapshot in
      FleetTargetPage(snapshot, after: cursor, verdict, limit: limit)
    }
    // A page costs much more than its tag, and every change of the fleet ends a wait for a comparison.
    let present: @Sendable () -> String = {
      EntityTag(page(fleet.snapshot), TargetVisibility(context.routed)).description
    }
    return try ConditionalRequest(context.routed).reply(waitingOn: fleet.waitingRequests, tag: present) {
      let visibility = TargetVisibility(context.routed)
      let snapshot = fleet.snapshot
      let page = page(snapshot)
      let documents = page.targets.map {
        FleetRepresentation.target($0.id, $0.target, snapshot, visibility, isWhole: false)
      }
      let tag = EntityTag(page, visibility).description
      return context.document(.members(["targets": .array(documents), "next": .text(page.next)]), [("ETag", tag)])
    }
  }

  static let post = FleetRoute(
    method: "POST", pattern: "/fleet/targets", scope: .targetsWrite, mediaTypes: [.json],
    summary: "define a target of the fleet"
  ) { (context) throws(Problem) in
    let body = try RequestBody.json(context.request)
    let (id, definition) = try FleetTargetBody.read(body, id: nil, context)
    return try FleetTargetWriter(context, id).make(.define(definition, isCreation: true))
  }

  static let get = FleetRoute(
    pattern: "/fleet/targets/{id}", parameters: ["wait"], mediaTypes: [.json],
    summary: "one target of the fleet with the votes of its agents"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let id = try id(context)
    return try ConditionalRequest(context.routed).reply(waitingOn: fleet.waitingRequests) {
      let snapshot = fleet.snapshot
      guard let target = snapshot.fold.targets[id] else { return context.answer(Problem(missingFleetTarget: id)) }
      return answer(id, target, snapshot, context)
    }
  }

  static let put = FleetRoute(
    method: "PUT", pattern: "/fleet/targets/{id}", scope: .targetsWrite, mediaTypes: [.json],
    summary: "define a target of the fleet, or change one"
  ) { (context) throws(Problem) in
    let id = try id(context)
    let body = try RequestBody.json(context.request)
    let (_, definition) = try FleetTargetBody.read(body, id: id, context)
    return try FleetTargetWriter(context, id).make(.define(definition, isCreation: false))
  }

  static let delete = FleetRoute(
    method: "DELETE", pattern: "/fleet/targets/{id}", parameters: ["force"], scope: .targetsWrite, mediaTypes: [.json],
    summary: "delete a target of the fleet"
  ) { (context) throws(Problem) in
    let isForced = try context.routed.value("force", of: Forcing.self) == .true
    return try FleetTargetWriter(context, try id(context)).make(.delete(isForced: isForced))
  }

  /// The values of `force`.
  private enum Forcing: String, CaseIterable {
    case `true`, `false`
  }

  private static func id(_ context: FleetRequest) throws(Problem) -> String {
    let id = context.path["id"] ?? ""
    guard TargetSpec.isID(id) else { throw Problem(invalidID: id) }
    return id
  }

  static func answer(
    _ id: String, _ target: FleetFoldedTarget, _ snapshot: FleetSnapshot, _ context: FleetRequest, status: Int = 200
  ) -> HTTPResponse {
    let visibility = TargetVisibility(context.routed)
    let document = FleetRepresentation.target(id, target, snapshot, visibility, isWhole: true)
    var fields = [("ETag", "\(EntityTag(target, visibility))")]
    if status == 201 { fields.append(("Location", "/fleet/targets/\(id)")) }
    return context.document(document, status: status, fields.map { (name: $0.0, value: $0.1) })
  }
}

struct FleetTargetPage {
  let targets: ArraySlice<(id: String, target: FleetFoldedTarget)>
  /// The cursor of the page that follows; nil for none.
  let next: String?

  /// Selects the first targets after a position, with a verdict if one is given.
  init(_ snapshot: FleetSnapshot, after cursor: String, _ verdict: FleetVerdict?, limit: Int) {
    let rest = snapshot.targets.filter { each in
      each.id > cursor && (verdict == nil || each.target.verdict?.message.to ?? .unknown == verdict)
    }
    targets = rest.prefix(limit)
    next = rest.count > limit ? targets.last?.id : nil
  }
}

/// Reads the body that defines a target of the fleet.
enum FleetTargetBody {
  /// Members of the document that a client may send back; they are ignored.
  private static let readOnly: Set<String> = [
    "version", "verdict", "reason", "dependency", "since", "votes", "needed", "downFrom", "vantages",
  ]

  static func read(
    _ body: JSON, id: String?, _ context: FleetRequest
  ) throws(Problem) -> (id: String, definition: FleetTarget) {
    do throws(TargetDecoder.InvalidFields) {
      let own = body.members?.filter { !readOnly.contains($0.name) && $0.name != "place" && $0.name != "quorum" }
      let definition = try TargetDecoder.definition(
        own.map(JSON.object) ?? body, at: "", id: id, modules: context.service.modules(),
        alsoKnown: ["place", "quorum"])
      guard FleetMesh.agent(of: definition.id) == nil else {
        throw FleetTargetDecoder.invalid(
          "/id", "ids that begin with \(FleetMesh.prefix) belong to the checks among agents")
      }
      let target = FleetTarget(
        spec: TargetSpec(definition), placement: try FleetTargetDecoder.placement(body["place"], at: "/place"),
        quorum: try FleetTargetDecoder.quorum(body["quorum"], at: "/quorum"))
      return (definition.id, target)
    } catch {
      throw Problem(fields: error.errors)
    }
  }
}

extension TargetSpec {
  /// The specification with all fields of a definition.
  fileprivate init(_ definition: TargetDefinition) {
    self.init()
    id = definition.id
    target = definition.target.description
    module = definition.module.name
    labels = definition.labels
    interval = definition.interval
    timeout = definition.timeout
    fastInterval = definition.fastInterval
    fall = definition.fall
    rise = definition.rise
    isPaused = definition.isPaused
    dependsOn = definition.dependsOn
  }
}

extension Problem {
  /// Creates the problem for a missing target of the fleet.
  init(missingFleetTarget id: String) {
    self.init(
      .notFound, "no target of the fleet has the id \(id.debugDescription); GET /fleet/targets lists all targets")
  }
}
