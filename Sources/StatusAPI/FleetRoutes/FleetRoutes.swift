internal import EmbeddedHTTPServer
internal import JSONFormat
internal import ReachabilityFleet

/// The routes of a replica, in the order of the index.
enum FleetRoutes {
  static let all =
    [overview] + FleetAgentRoutes.all + FleetTargetRoutes.all + [
      FleetMatrixRoute.matrix, FleetEventRoutes.events, FleetCheckRoute.check,
    ]

  static let overview = APIRoute(
    pattern: "/fleet", mediaTypes: [.json], summary: "the fleet in numbers, and this replica's position"
  ) { (context) throws(Problem) in
    let fleet = try context.fleet()
    return .now(context.document(FleetRepresentation.overview(fleet.snapshot, replica: fleet.id)))
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
