internal import EmbeddedHTTPServer
internal import JSONFormat
internal import ReachabilityFleet
internal import StatusAPI

/// The routes of a replica, in the order of the index.
enum FleetRoutes {
  static func all(_ fleet: FleetService) -> [APIRoute] {
    [overview(fleet)] + FleetAgentRoutes.all(fleet) + FleetTargetRoutes.all(fleet) + [
      FleetMatrixRoute.matrix(fleet), FleetEventRoutes.events(fleet), FleetCheckRoute.check(fleet),
    ]
  }

  static func overview(_ fleet: FleetService) -> APIRoute {
    APIRoute(
      pattern: "/fleet", mediaTypes: [.json], summary: "the fleet in numbers, and this replica's position"
    ) { (context) throws(Problem) in
      .now(context.document(FleetRepresentation.overview(fleet.snapshot, replica: fleet.id)))
    }
  }
}

extension RequestContext {
  /// A response that is not cached, because other replicas have other moments.
  func document(_ json: JSON, status: Int = 200, _ more: [(name: String, value: String)] = []) -> HTTPResponse {
    var headers = RepresentationHeaders.ofTargets(.json)
    for field in more { headers[field.name] = field.value }
    return HTTPResponse(status: status, headers: headers, body: .bytes(json.bytes + [0x0a]))
  }
}
