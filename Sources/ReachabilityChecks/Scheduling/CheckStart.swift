internal import ReachabilityModel

/// One check of a target, from the moment when it is queued; confined to the state, as its target.
struct CheckRun: Equatable {
  let entry: ScheduleEntry
  /// Different for each check.
  let number: Int

  var isRunning: Bool {
    guard case .running(number, _, _) = entry.activity else { return false }
    return true
  }

  static func == (left: CheckRun, right: CheckRun) -> Bool { left.number == right.number }
}

/// A check to start.
struct CheckStart {
  var run: CheckRun
  /// By reference, so that a start is small.
  private var sharedDefinition: SharedValue<TargetDefinition>
  var origin: TargetOrigin
  /// Whether the kernel's last report about the host says that there is a route to it.
  var hasRoute: Bool

  init(_ run: CheckRun) {
    self.run = run
    sharedDefinition = run.entry.report.sharedDefinition
    origin = run.entry.report.origin
    hasRoute = run.entry.hasRoute
  }

  var definition: TargetDefinition { sharedDefinition.value }
  var id: String { sharedDefinition.value.id }

  /// Whether a result is the first `down` of a target of the fleet that was `up`: the change to `down` is pending now, or is
  /// complete because one result is enough.
  ///
  /// A target without a path has no such result: it is `unreachable`, and says nothing about the target.
  func isFirstFailure(_ effect: CheckEffect, _ result: CheckResult) -> Bool {
    guard result.state == .down, origin == .fleet, case .accepted(let change) = effect else { return false }
    let status = run.entry.report.status
    return status.consecutiveFailures == 1 && (change?.from ?? status.state) == .up
  }
}
