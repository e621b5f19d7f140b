internal import StatusPage
public import StatusAPI

extension StatusService {
  /// Adds the routes, the page, the metrics and the readiness of a replica of a fleet, before the first request.
  public func serve(_ fleet: FleetService) {
    add(ServiceExtension(routes: FleetRoutes.all(fleet), document: StatusPage.fleetDocument))
    add(.fleet(fleet))
    add(HealthCheck("fleet") { fleet.snapshot.isComplete ? nil : "the stream of the fleet is not read to its end" })
  }

  /// The changes of fleet targets for the engine; make one at most, before the monitor is started.
  public func makeAgentOutbox() -> AgentOutbox { AgentOutbox(events, schedule) }
}
