internal import NetworkReachability
internal import ReachabilityModel

extension ScheduleState {
  /// What became of a run.
  enum Ending: Equatable {
    /// It was given up before: nobody waits for it.
    case forgotten
    /// It says nothing; the target is asked again.
    case repeated
    /// A way that it alone says is missing must stay so for the settle time; who asked for it has the answer.
    case premature
    /// It counts, and perhaps changes the target's state.
    case counted(TargetNews?)
    /// The kernel's word about the way stands against it; whoever gave that says it again, for it may be an old one.
    case overruled

    /// What there is to tell; nil when nobody has an answer yet.
    var counted: [TargetNews]? {
      switch self {
      case .forgotten, .repeated: nil
      case .counted(let news): news.map { [$0] } ?? []
      case .overruled, .premature: []
      }
    }
  }

  /// Takes in the result of a run.
  ///
  /// - Parameters:
  ///   - run: which.
  ///   - result: what it found.
  ///   - settle: how long a way must be missing that no word of the kernel tells of.
  ///   - now: when it ended.
  /// - Returns: what became of it.
  mutating func finish(
    _ run: Int, _ result: ProbeResult, settle: @autoclosure () -> Duration = .zero, at now: Moment
  ) -> Ending {
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
    if isDoubtful, entry.way == .open, entry.repeats < Limits.repeatedChecks {
      entries[id]?.repeats += 1
      figures.repeats += 1
      enqueue(id, due: now.uptime)
      return .repeated
    }
    entries[id]?.repeats = 0
    if result.reason == .cancelled { return .counted(nil) }
    // The kernel's word about the way is younger than what a check found that began before it.
    if entry.way == .missing, result.state != .unreachable { return .overruled }
    if isPremature(id, result, settle: settle(), at: now) { return .premature }
    let news = change(id, [.check]) { $0.take(result, entry.definition, at: now.time) }
    if let entry = entries[id], entry.wantsHaste {
      let next = max(now.uptime, start + ledger.fastInterval(entry.definition, entry.account))
      // Not one of the reserved checks: without credit the next one is at its place in the interval.
      if next < entry.due, ledger.admit(1, for: entry.account, at: now.uptime) == .admitted { plan(id, at: next) }
    }
    return .counted(news)
  }

  /// Whether a check alone says that the way is missing, and has not said so for the settle time, after which it is asked
  /// again.
  ///
  /// A route that is replaced is no outage, and of one the kernel tells by then.
  private mutating func isPremature(_ id: String, _ result: ProbeResult, settle: Duration, at now: Moment) -> Bool {
    guard let entry = entries[id], result.state == .unreachable, entry.way == .open,
      entry.report.status.state != .unreachable
    else {
      entries[id]?.missedSince = nil
      return false
    }
    let since = entry.missedSince ?? now.uptime
    guard now.uptime < since + settle else {
      entries[id]?.missedSince = nil
      return false
    }
    entries[id]?.missedSince = since
    figures.repeats += 1
    if since + settle < entry.due { plan(id, at: since + settle) }
    return true
  }

  /// Takes in the kernel's word about the way to a target: its loss counts at once, any other change has it checked.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - verdict: over its host.
  ///   - isFirst: whether it is the first since somebody asked.
  ///   - causes: what the kernel said had happened.
  ///   - reachesNameServer: whether a way leads to any name server.
  ///   - now: this moment.
  /// - Returns: the news when its state changed.
  mutating func wayChanged(
    _ id: String, _ verdict: HostVerdict, isFirst: Bool, _ causes: Set<Cause>, reachesNameServer: Bool = true,
    at now: Moment
  ) -> TargetNews? {
    guard let entry = entries[id] else { return nil }
    let isMissing = CheckRules.isWayMissing(verdict, reachesNameServer)
    let way: Way = isMissing ? verdict.phase == .resolved ? .missing : .cutOff : .open
    entries[id]?.way = way
    entries[id]?.missedSince = nil
    if case .name = verdict.target.remote { entries[id]?.addresses = verdict.addresses.map(\.address) }
    guard !entry.definition.isPaused else { return nil }
    // A name may be in the hosts file, so the first check tells; it is on its way.
    if isFirst, way == .cutOff { return nil }
    if isMissing { return change(id, causes) { $0.loseWay(verdict.path.reason, at: now.time) } }
    // The first verdict after registering tells nothing new.
    if isFirst, entry.way == .open { return nil }
    // Some servers give other parts of a long list each time: as long as one of the addresses stays, that is no other way. But one
    // of the new ones may be the end of an outage.
    let isSameHost = verdict.addresses.contains { entry.addresses.contains($0.address) }
    if causes == [.dnsChanged], entry.way == .open, isSameHost {
      if entry.report.status.state != .up { enqueue(id, due: now.uptime) }
      return nil
    }
    if case .running = entry.activity { entries[id]?.isDoubtful = true }
    enqueue(id, due: now.uptime)
    return nil
  }

  private mutating func change(_ id: String, _ causes: Set<Cause>, _ body: (inout TargetStatus) -> Void) -> TargetNews?
  {
    guard let old = entries[id]?.report.status else { return nil }
    if var status = entries[id]?.report.status {
      body(&status)
      entries[id]?.report.status = status
    }
    guard let status = entries[id]?.report.status else { return nil }
    if status.state != old.state {
      entries[id]?.told = ToldReason(status.reason)
    } else {
      let isReasonNews = entries[id]?.told.isNews(status.reason) ?? false
      guard isReasonNews || status.isFlapping != old.isFlapping else { return nil }
    }
    entries[id]?.report.changes += 1
    return entries[id].map { TargetNews(from: old.state, report: $0.report, causes: causes) }
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
