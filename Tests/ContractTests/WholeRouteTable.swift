@testable import FleetAPI
@testable import HTTPRouting
@testable import StatusAPI

extension RouteTable {
  /// The routes of a replica of a fleet: all that the contract has.
  static let ofReplica = declarations + FleetRoutes.all.map(\.declaration)
}
