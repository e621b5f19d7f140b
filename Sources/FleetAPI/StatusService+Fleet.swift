package import HTTPRouting
internal import StatusPage
public import StatusAPI

extension StatusService {
  /// Adds the metrics and the readiness of a replica of a fleet.
  ///
  /// - Parameter fleet: the replica.
  /// - Returns: what handles requests to the routes of this service and of the replica.
  package func makeRouter(serving fleet: FleetService) -> Router {
    add(.fleet(fleet))
    add(HealthCheck("fleet") { Self.readiness(fleet.snapshot) })
    let context = FleetContext(fleet, modules: { self.modules }, checkQuota)
    return Router(self, adding: FleetRoutes.all.map { $0.bound(to: context) }, page: StatusPage.fleetDocument)
  }

  /// A replica that has had the state of the fleet serves it, however old it is; before that it has nothing to serve.
  private static func readiness(_ snapshot: FleetSnapshot) -> HealthCheck.Result {
    guard snapshot.hasState else {
      return .fail(
        (["the stream of the fleet is not read to its end"] + [snapshot.problem].compactMap(\.self)).joined(
          separator: "; "))
    }
    guard let problem = snapshot.problem else { return .pass }
    return .warn("\(problem); the state of the fleet was confirmed \(snapshot.age.wholeSeconds) s ago")
  }

  /// The changes of fleet targets for the engine; make one at most, before the monitor is started.
  public func makeAgentOutbox() -> AgentOutbox { AgentOutbox(events.publisher, schedule) }
}
