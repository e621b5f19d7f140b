internal import NetworkReachability
internal import ReachabilityModel

/// The decisions of the schedule: when each target is checked, and the effects of results and route changes.
///
/// It takes times and returns checks to start and changes to publish, which ``CheckSchedule`` carries out. It is not to be
/// copied, because its entries are objects.
struct ScheduleState {
  var entries: [String: ScheduleEntry] = [:]
  /// The number of queued checks.
  var waiting = 0
  var limiter: CheckConcurrencyLimiter<CheckRun>
  var stalls = ScheduleStallDetector()
  var statistics = CheckStatistics()
  /// The checks in progress that were replaced by others, for ``takeOutdatedRuns()``.
  var outdatedRuns: [CheckRun] = []
  private var lastRun = 0
  private var revision: UInt64 = 0
  /// The time since an earlier process has stored something; nil when the machine was started since then.
  var idle: Duration?
  /// The targets of an earlier process that are not registered yet.
  var restored: [String: RestoredTarget] = [:]
  /// Whether the configuration pauses each of its targets.
  var configuredPauses: [String: Bool] = [:]
  /// When targets are checked.
  var planner: SchedulePlanner
  /// The use of each limit by each account.
  var ledger: QuotaLedger
  /// Which targets depend on which.
  var dependencies = DependencyTracker()

  init(
    seed: UInt64, concurrency: Int, perHost: Int, limits: ScheduleLimits = .init(targets: .max, checksPerSecond: nil)
  ) {
    planner = SchedulePlanner(seed: seed)
    ledger = QuotaLedger(limits)
    limiter = CheckConcurrencyLimiter(total: concurrency, perHost: perHost)
  }

  // MARK: - Targets

  /// Adds or changes a target; its status is kept unless what is checked changes.
  ///
  /// - Returns: the change to publish, if any, and the run to cancel.
  mutating func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, by account: TargetAccount? = nil, at now: ScheduleMoment
  ) -> (change: EngineTargetChange?, cancelled: CheckRun?) {
    let id = definition.id
    let account = self.account(account, of: id, origin)
    let parentState = parentState(id)
    defer {
      dependencies.set(id, definition.dependsOn, in: entries)
      parentChanged(id, from: parentState, at: now)
    }
    guard let old = entries[id] else {
      add(definition, origin, account, TargetStatus(at: now.time, isPaused: definition.isPaused), at: now)
      var change = entries[id].map {
        EngineTargetChange(from: $0.report.status.state, report: $0.report, causes: [.configuration])
      }
      if let kept = restored.removeValue(forKey: id) {
        // The file was changed while no process ran; otherwise nothing has changed.
        let before = entries[id]?.restore(kept, idle: idle)
        change = before.flatMap { before in
          entries[id].map { EngineTargetChange(from: before, report: $0.report, causes: [.configuration, .restart]) }
        }
      }
      return (change, nil)
    }
    guard old.definition != definition || old.report.origin != origin else { return (nil, nil) }
    var status = old.report.status
    let from = old.unpublishedFrom ?? status.state
    var cancelled: CheckRun?
    if definition.isSameCheck(as: old.definition), definition.interval == old.definition.interval,
      definition.isPaused == old.definition.isPaused
    {
      revision += 1
      ledger.refund(old.definition, to: old.account)
      ledger.charge(definition, to: account)
      old.unpublishedFrom = nil
      if definition.dependsOn != old.definition.dependsOn { status.endWaiting() }
      old.report = report(definition, origin, account, status)
    } else {
      status.pause(definition.isPaused, at: now.time)
      status.endWaiting()
      if !definition.isSameCheck(as: old.definition) {
        status = TargetStatus(at: now.time, isPaused: definition.isPaused)
      }
      cancelled = discard(old)
      add(definition, origin, account, status, at: now)
      // The results from before a pause are out of date.
      if definition.isSameCheck(as: old.definition), definition.isPaused == old.definition.isPaused {
        entries[id]?.takeResults(of: old)
      }
      // For a new host, the route state follows from the first check until the kernel reports it.
      if old.definition.target.routeTarget == definition.target.routeTarget {
        entries[id]?.route = old.route
        entries[id]?.hasRoute = old.hasRoute
      }
    }
    return (entries[id].map { EngineTargetChange(from: from, report: $0.report, causes: [.configuration]) }, cancelled)
  }

  /// A new target is checked immediately if the rate of its account allows it, and then at its phase of the interval.
  private mutating func add(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount, _ status: TargetStatus,
    at now: ScheduleMoment
  ) {
    revision += 1
    ledger.charge(definition, to: account)
    let entry = ScheduleEntry(report(definition, origin, account, status))
    entries[definition.id] = entry
    let isAdmitted = definition.isPaused || ledger.admit(1, for: account, at: now.uptime) == .admitted
    // A client that changes a target repeatedly must not get a check for each change.
    let earliest = isAdmitted ? now.uptime : now.uptime + definition.interval
    plan(entry, at: planner.nextRegularTime(definition, after: earliest, now))
    if !definition.isPaused, isAdmitted { enqueue(entry, due: now.uptime) }
  }

  private func report(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount, _ status: TargetStatus
  ) -> TargetReport {
    var report = TargetReport(definition: definition, origin: origin, revision: revision, status: status)
    report.isPausedByConfiguration = origin == .configuration ? configuredPauses[definition.id] : nil
    if case .token(let id) = account { report.token = id }
    return report
  }

  /// Removes a target.
  ///
  /// - Returns: the run to cancel.
  mutating func remove(_ id: String, at now: ScheduleMoment) -> CheckRun? {
    guard let entry = entries[id] else { return nil }
    let parentState = parentState(id)
    let run = discard(entry)
    dependencies.set(id, [], in: entries)
    parentChanged(id, from: parentState, at: now)
    return run
  }

  /// Removes an entry, to which others may refer by its id.
  private mutating func discard(_ entry: ScheduleEntry) -> CheckRun? {
    entries[entry.definition.id] = nil
    ledger.refund(entry.definition, to: entry.account)
    // Its entries in the wheel and in the queue are ignored when they are reached.
    entry.tick = ScheduleEntry.unplanned
    defer { entry.activity = .idle }
    switch entry.activity {
    case .idle: return nil
    case .queued:
      waiting -= 1
      return nil
    case .running(let run, _, let slot):
      release(slot, of: entry)
      return CheckRun(entry: entry, number: run)
    }
  }

  /// Ends the use of a slot by a check.
  mutating func release(_ slot: ScheduleEntry.Slot, of entry: ScheduleEntry) {
    switch slot {
    case .scheduled: limiter.finish(entry.host)
    case .dependency: dependencies.finishCheck()
    }
    if !hasRunningChecks { stalls.pause() }
  }

  /// Sets the number that revisions of this process exceed.
  mutating func setFirstRevision(_ first: UInt64) { revision = max(revision, first) }

  // MARK: - Checks

  /// Plans the next check of a target.
  mutating func plan(_ entry: ScheduleEntry, at due: Duration) { planner.plan(entry, at: due, of: entries.count) }

  /// Queues a check of a target, unless one is queued or running.
  mutating func enqueue(_ entry: ScheduleEntry, due: Duration) {
    guard entry.activity == .idle else { return }
    lastRun += 1
    waiting += 1
    entry.activity = .queued(run: lastRun, due: due)
    limiter.enqueue(CheckRun(entry: entry, number: lastRun), to: entry.host)
  }

  /// Makes a check of a target that is not running one, without waiting in the queue.
  mutating func startUnqueued(_ entry: ScheduleEntry, at now: ScheduleMoment) -> CheckStart {
    // The run in the queue is ignored when it is reached.
    if case .queued = entry.activity { waiting -= 1 }
    lastRun += 1
    entry.activity = .running(run: lastRun, since: now.uptime, slot: .dependency)
    return CheckStart(CheckRun(entry: entry, number: lastRun))
  }
}
