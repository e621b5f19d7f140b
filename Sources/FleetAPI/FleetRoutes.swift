internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityChecks
internal import StatusAPI

/// The routes of a replica, in the order of the index.
enum FleetRoutes {
  static let all =
    [overview] + FleetAgentRoutes.all + FleetTargetRoutes.all + [
      FleetMatrixRoute.matrix, FleetEventRoutes.events, FleetCheckRoute.check,
    ]

  static let overview = FleetRoute(
    pattern: "/fleet", mediaTypes: [.json], summary: "the fleet in numbers, and this replica's position"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    return .now(context.document(FleetRepresentation.overview(fleet.snapshot, replica: fleet.id)))
  }
}

/// A route of a replica.
typealias FleetRoute = APIRoute<FleetContext>

/// A request to a replica with its route.
typealias FleetRequest = RouteContext<FleetContext>

/// The objects that the routes of a replica use.
final class FleetContext: Sendable {
  let fleet: FleetService
  /// Returns the modules that targets may name besides the built-in ones.
  let modules: @Sendable () -> [CheckModule]
  /// Counts the checks that clients request.
  let quota: CheckRequestQuota

  init(_ fleet: FleetService, modules: @escaping @Sendable () -> [CheckModule], _ quota: CheckRequestQuota) {
    self.fleet = fleet
    self.modules = modules
    self.quota = quota
  }
}

extension FleetRequest {
  /// A response that is not cached, because other replicas have other moments.
  func document(_ json: JSON, status: Int = 200, _ more: [(name: String, value: String)] = []) -> HTTPResponse {
    var headers = RepresentationHeaders.ofTargets(.json)
    for field in more { headers[field.name] = field.value }
    return HTTPResponse(status: status, headers: headers, body: .bytes(json.bytes + [0x0a]))
  }
}
