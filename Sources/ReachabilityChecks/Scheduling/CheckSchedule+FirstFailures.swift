internal import Locks
internal import ReachabilityModel

extension CheckSchedule {
  /// Calls a closure, on any thread, for each target of the fleet that was `up` and whose check fails for the first time.
  package func observeFirstFailures(_ observer: @escaping @Sendable (_ id: String) -> Void) {
    guarded.withLock { $0.observeFirstFailure = observer }
  }
}

extension ScheduleState.Effect {
  /// Whether a result is the first `down` of a target of the fleet that was `up`: the change to `down` is pending now, or is
  /// complete because one result is enough.
  ///
  /// A target without a path has no such result: it is `unreachable`, and says nothing about the target.
  func isFirstFailure(of start: CheckStart, _ result: CheckResult) -> Bool {
    guard result.state == .down, start.origin == .fleet, case .accepted(let change) = self else { return false }
    let status = start.run.entry.report.status
    return status.consecutiveFailures == 1 && (change?.from ?? status.state) == .up
  }
}
