internal import EmbeddedHTTPServer
internal import JSONFormat
internal import ReachabilityFleet

/// The routes of a replica, in the order of the index.
enum FleetRoutes {
  static let all =
    [overview, agents, agent] + FleetTargetRoutes.all + [
      FleetMatrixRoute.matrix, FleetEventRoutes.events, FleetCheckRoute.check,
    ]

  static let overview = Route(
    pattern: "/fleet", mediaTypes: [.json], summary: "the fleet in numbers, and this replica's position"
  ) { (context) throws(Problem) in
    let fleet = try context.fleet()
    return .now(context.document(FleetRepresentation.overview(fleet.snapshot, replica: fleet.id)))
  }

  static let agents = Route(
    pattern: "/fleet/agents", mediaTypes: [.json], isCompressible: true, summary: "the agents of the fleet"
  ) { (context) throws(Problem) in
    let snapshot = try context.fleet().snapshot
    let agents = snapshot.agents.map { FleetRepresentation.agent($0.id, $0.node, snapshot) }
    return .now(context.document(.members(["agents": .array(agents)])))
  }

  static let agent = Route(
    pattern: "/fleet/agents/{id}", mediaTypes: [.json], summary: "one agent of the fleet"
  ) { (context) throws(Problem) in
    let snapshot = try context.fleet().snapshot
    let id = context.path["id"] ?? ""
    guard let node = snapshot.fold.nodes[id], node.isAgent else {
      throw Problem(
        .notFound, "no agent has the id \(id.prefix(80).debugDescription); GET /fleet/agents lists all agents")
    }
    return .now(context.document(FleetRepresentation.agent(id, node, snapshot)))
  }
}

extension RequestContext {
  /// The replica.
  ///
  /// - Throws: `notFound` when this process is none; the router has no route of the fleet then.
  func fleet() throws(Problem) -> FleetService {
    guard let fleet = service.fleet else { throw Problem(.notFound, "this process is no replica of a fleet") }
    return fleet
  }

  /// A response that is not cached, because other replicas have other moments.
  func document(_ json: JSON, status: Int = 200, _ more: [(name: String, value: String)] = []) -> HTTPResponse {
    var headers = RepresentationHeaders.ofTargets(.json)
    for field in more { headers[field.name] = field.value }
    return HTTPResponse(status: status, headers: headers, body: .bytes(json.bytes + [0x0a]))
  }
}
