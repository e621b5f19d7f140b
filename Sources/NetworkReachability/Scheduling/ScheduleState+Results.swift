internal import ReachabilityModel

extension ScheduleState {
  /// What became of a run.
  enum Ending: Equatable {
    /// It was given up before: nobody waits for it.
    case forgotten
    /// It says nothing; the target is asked again.
    case repeated
    /// It counts, and perhaps changes the target's state.
    case counted(News?)
  }

  /// Takes in the result of a run.
  mutating func finish(_ run: Int, _ result: ProbeResult, at now: Moment) -> Ending {
    stalls.sign(at: now.uptime)
    guard let id = runs.removeValue(forKey: run), let entry = entries[id],
      case .running(_, let start) = entry.activity
    else { return .forgotten }
    slots.finish(entry.host)
    if slots.running == 0 { stalls.rest() }
    entries[id]?.activity = .idle
    entries[id]?.isDoubtful = false
    figures.modules[entry.definition.module.name, default: .init()].note(result)
    let isDoubtful = result.state != .up && (entry.isDoubtful || stalls.covers(start))
    if isDoubtful, !entry.isWayMissing, entry.repeats < Limits.repeatedChecks {
      entries[id]?.repeats += 1
      figures.repeats += 1
      enqueue(id, due: now.uptime)
      return .repeated
    }
    entries[id]?.repeats = 0
    // The kernel's word about the way is younger than what a check found that began before it.
    if result.reason == .cancelled || entry.isWayMissing && result.state != .unreachable { return .counted(nil) }
    let news = change(id, [.check]) { $0.take(result, entry.definition, at: now.time) }
    if let entry = entries[id], entry.report.status.isPending {
      let next = max(now.uptime, start + entry.definition.fastInterval)
      if next < entry.due { plan(id, at: next) }
    }
    return .counted(news)
  }

  /// Takes in the kernel's word about the way to a target: its loss counts at once, any other change has it checked.
  mutating func wayChanged(_ id: String, _ verdict: HostVerdict, isFirst: Bool, _ causes: Set<Cause>, at now: Moment)
    -> News?
  {
    guard let entry = entries[id] else { return nil }
    let missing = CheckRules.missingWay(verdict, startedAt: now.time, duration: .zero)
    entries[id]?.isWayMissing = missing != nil
    guard !entry.definition.isPaused else { return nil }
    if let missing { return change(id, causes) { $0.loseWay(missing.reason, at: now.time) } }
    // The first verdict after registering tells nothing new: the first check is on its way.
    if isFirst, !entry.isWayMissing { return nil }
    if case .running = entry.activity { entries[id]?.isDoubtful = true }
    enqueue(id, due: now.uptime)
    return nil
  }

  private mutating func change(_ id: String, _ causes: Set<Cause>, _ body: (inout TargetStatus) -> Void) -> News? {
    guard let old = entries[id]?.report.status else { return nil }
    if var status = entries[id]?.report.status {
      body(&status)
      entries[id]?.report.status = status
    }
    guard let report = entries[id]?.report,
      report.status.state != old.state || report.status.isFlapping != old.isFlapping
    else { return nil }
    return News(from: old.state, report: report, causes: causes)
  }

  /// The figures with the counts of this moment.
  var currentFigures: CheckFigures {
    var figures = figures
    for state in TargetState.allCases { figures.targets[state] = 0 }
    for entry in entries.values {
      figures.targets[entry.report.status.state, default: 0] += 1
      if entry.report.status.isFlapping { figures.flapping += 1 }
    }
    figures.running = slots.running
    figures.waiting = runs.count - slots.running
    return figures
  }
}
