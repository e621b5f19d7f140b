internal import Events
public import ReachabilityFleet
public import ReachabilityModel

extension FleetCellChange {
  /// The change of a fleet target that an event reports; nil for another event.
  init?(_ event: Event) {
    guard let target = event.target, let change = event.targetChange, change.origin == .fleet else { return nil }
    let cell = FleetCellState(
      change.to, change.reason, since: change.since ?? event.time, isFlapping: change.isFlapping)
    self.init(
      number: event.id.sequence, target: target, old: change.from, cell: change.isRemoved ? nil : cell, time: event.time
    )
  }
}

extension FleetCheckResult {
  /// What a target that is checked here has become after a check.
  public init(_ report: TargetReport) {
    self.init(
      report.definition.id, FleetCellState(report),
      last: report.status.lastResult.flatMap { TargetState(rawValue: $0.state.rawValue) })
  }
}

extension FleetCellState {
  /// The cell of a target that is checked here.
  public init(_ report: TargetReport) {
    let status = report.status
    self.init(status.state, status.reason, since: status.since, isFlapping: status.isFlapping)
  }
}
