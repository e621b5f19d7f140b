internal import NetworkReachability
internal import ReachabilityModel

// Which changes of a target's status are published.
extension ScheduleEntry {
  /// The causes of a change by a result.
  private static let byCheck: Set<Cause> = [.check]

  /// Changes the status by a result of a check.
  ///
  /// - Returns: the change to publish, if any.
  func change(at now: ScheduleMoment, _ body: (inout TargetStatus) -> Void) -> EngineTargetChange? {
    change(Self.byCheck, at: now, body)
  }

  /// Changes the status.
  ///
  /// - Returns: the change to publish, if any.
  func change(
    _ causes: Set<Cause>, at now: ScheduleMoment, _ body: (inout TargetStatus) -> Void
  ) -> EngineTargetChange? {
    let (state, wasFlapping) = (report.status.state, report.status.isFlapping)
    let dependency = report.status.dependency
    body(&report.status)
    let status = report.status
    if status.state != state {
      reason = ScheduleReasonDebouncer(status.reason)
    } else {
      let isNewReason = reason.update(status.reason)
      // Another root of the same outage; whether an outage begins or ends, the reason shows.
      let isNewRoot = status.dependency != dependency && status.dependency != nil && dependency != nil
      let isOther = status.isFlapping != wasFlapping || unpublishedFrom != nil || isNewRoot
      guard isNewReason || isOther else { return nil }
    }
    let isFlapping = wasFlapping && status.isFlapping && causes == Self.byCheck
    return publishedChange(from: unpublishedFrom ?? state, isFlapping: isFlapping, causes, at: now)
  }

  /// The change to publish; nil while a flapping target has had an event too recently.
  private func publishedChange(
    from: TargetState, isFlapping: Bool, _ causes: Set<Cause>, at now: ScheduleMoment
  ) -> EngineTargetChange? {
    if isFlapping, definition.interval <= Limits.flappingReports, let last = publishedAt,
      now.uptime - last < Limits.flappingReports
    {
      unpublishedFrom = from
      return nil
    }
    // It has returned to the state of the last event.
    let isSame = unpublishedFrom == report.status.state && isFlapping
    unpublishedFrom = nil
    if isSame { return nil }
    publishedAt = now.uptime
    report.changes += 1
    return EngineTargetChange(from: from, report: report, causes: causes)
  }
}
