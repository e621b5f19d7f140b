internal import ReachabilityModel

extension ScheduleState {
  /// The checks to start now; to be called at ``nextDeadline(after:)`` at the latest, at most `limit`.
  mutating func takeStarts(at now: Moment, limit: Int = Limits.checkBurst) -> [CheckStart] {
    if limiter.running > 0 { stalls.heartbeat(at: now.uptime) }
    // An entry with another tick is outdated.
    for (entry, tick) in wheel.advance(to: now.uptime.ticks) where entry.tick == tick {
      let due = entry.due
      let definition = entry.report.sharedDefinition.value
      // At least half an interval later, so that a step of the wall clock does not repeat this check.
      plan(entry, at: nextRegularTime(definition, after: now.uptime + definition.interval / 2, now))
      if definition.isPaused || entry.route == .missing { continue }
      if entry.activity == .idle { enqueue(entry, due: due) } else { statistics.overlaps += 1 }
    }
    var starts: [CheckStart] = []
    while starts.count < limit, let (run, host) = limiter.next() {
      // The target was removed, and may have been registered again.
      guard case .queued(run.number, let due) = run.entry.activity else {
        limiter.finish(host)
        continue
      }
      waiting -= 1
      run.entry.activity = .running(run: run.number, since: now.uptime)
      statistics.lag.observe(max(.zero, now.uptime - due))
      starts.append(CheckStart(run))
    }
    if limiter.running > 0 { stalls.heartbeat(at: now.uptime) }
    return starts
  }

  /// Whether more checks may start now than one call of ``takeStarts(at:limit:)`` returned.
  var hasWaitingStarts: Bool { limiter.hasCandidates }

  /// When ``takeStarts(at:limit:)`` must be called next; nil without targets.
  func nextDeadline(after now: Duration) -> Duration? {
    if limiter.hasCandidates { return now + Limits.wheelTick }
    let planned = wheel.next.map { Limits.wheelTick * $0 }
    guard limiter.running > 0 else { return planned }
    // While checks are running, the timer is the heartbeat of the process.
    let heartbeat = now + Limits.heartbeat
    return planned.map { min($0, heartbeat) } ?? heartbeat
  }
}
