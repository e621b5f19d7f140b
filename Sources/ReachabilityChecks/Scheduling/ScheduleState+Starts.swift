internal import ReachabilityModel

extension ScheduleState {
  /// The checks to start now; to be called at ``nextDeadline(after:)`` at the latest, at most `limit`.
  mutating func takeStarts(at now: Moment, limit: Int = Limits.checkBurst) -> [CheckStart] {
    if limiter.running > 0 { stalls.heartbeat(at: now.uptime) }
    for (id, tick) in wheel.advance(to: now.uptime.ticks) {
      // The entry is outdated.
      guard let entry = entries[id], entry.tick == tick else { continue }
      let due = entry.due
      // At least half an interval later, so that a step of the wall clock does not repeat this check.
      plan(id, at: nextRegularTime(entry.definition, after: now.uptime + entry.definition.interval / 2, now))
      if entry.definition.isPaused || entry.route == .missing { continue }
      if entry.activity == .idle { enqueue(id, due: due) } else { statistics.overlaps += 1 }
    }
    var starts: [CheckStart] = []
    while starts.count < limit, let (run, host) = limiter.next() {
      guard let id = runs[run], let entry = entries[id], case .queued(_, let due) = entry.activity else {
        limiter.finish(host)
        continue
      }
      entry.activity = .running(run: run, since: now.uptime)
      statistics.lag.observe(max(.zero, now.uptime - due))
      starts.append(CheckStart(run: run, id: id, definition: entry.definition, origin: entry.report.origin))
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
    // While checks are running, the timer is the heartbeat of the process.
    let heartbeat = limiter.running > 0 ? now + Limits.heartbeat : nil
    return [planned, heartbeat].compactMap(\.self).min()
  }
}
