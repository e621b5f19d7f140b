internal import Events
internal import StatusPage
public import StatusAPI

extension StatusService {
  /// Adds the routes, the page, the metrics and the readiness of a replica of a fleet, before the first request.
  public func serve(_ fleet: FleetService) {
    add(ServiceExtension(routes: FleetRoutes.all(fleet), document: StatusPage.fleetDocument))
    add(.fleet(fleet))
    add(HealthCheck("fleet") { Self.readiness(fleet.snapshot) })
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
