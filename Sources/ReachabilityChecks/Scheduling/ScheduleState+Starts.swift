internal import ReachabilityModel

extension ScheduleState {
  /// The checks to start now; to be called at ``nextDeadline(after:)`` at the latest, at most `limit`.
  mutating func takeStarts(at now: ScheduleMoment, limit: Int = Limits.checkBurst) -> [CheckStart] {
    if hasRunningChecks { stalls.heartbeat(at: now.uptime) }
    for entry in planner.takeDue(at: now.uptime) {
      let due = entry.due
      let definition = entry.report.sharedDefinition.value
      // At least half an interval later, so that a step of the wall clock does not repeat this check.
      plan(entry, at: planner.nextRegularTime(definition, after: now.uptime + definition.interval / 2, now))
      if definition.isPaused || entry.route == .missing { continue }
      if entry.activity == .idle { enqueue(entry, due: due) } else { statistics.overlaps += 1 }
    }
    var starts = takeParentStarts(at: now, limit: limit)
    while starts.count < limit, let (run, host) = limiter.next() {
      // The target was removed, and may have been registered again.
      guard case .queued(run.number, let due) = run.entry.activity else {
        limiter.finish(host)
        continue
      }
      waiting -= 1
      run.entry.activity = .running(run: run.number, since: now.uptime, slot: .scheduled)
      statistics.lag.observe(max(.zero, now.uptime - due))
      starts.append(CheckStart(run))
    }
    if hasRunningChecks { stalls.heartbeat(at: now.uptime) }
    return starts
  }

  /// Whether any check is running.
  var hasRunningChecks: Bool { limiter.running > 0 || dependencies.running > 0 }

  /// The statistics with the present numbers of targets and checks.
  var currentStatistics: CheckStatistics {
    statistics.with(entries.values, running: limiter.running + dependencies.running, waiting: waiting)
  }

  /// Whether more checks may start now than one call of ``takeStarts(at:limit:)`` returned, or children are to be decided.
  var hasWaitingStarts: Bool { limiter.hasCandidates || dependencies.hasTouched }

  /// When ``takeStarts(at:limit:)`` must be called next; nil without targets.
  func nextDeadline(after now: Duration) -> Duration? {
    if hasWaitingStarts { return now + Limits.wheelTick }
    let planned = [planner.nextTime, dependencies.wakeTime].compactMap(\.self).min()
    guard hasRunningChecks else { return planned }
    // While checks are running, the timer is the heartbeat of the process.
    let heartbeat = now + Limits.heartbeat
    return planned.map { min($0, heartbeat) } ?? heartbeat
  }
}
