internal import NetworkReachability
internal import ReachabilityModel

/// The decisions of the schedule: when each target is checked, and the effects of results and route changes.
///
/// It takes times and returns checks to start and changes to publish, which ``CheckSchedule`` carries out. It is not to be
/// copied, because its entries are objects.
struct ScheduleState {
  /// The time of a decision on two clocks.
  struct Moment {
    /// The time since the schedule began, including sleep.
    var uptime: Duration
    /// The wall clock, for reports and for the phase within the interval.
    var time: Timestamp
  }

  var entries: [String: Entry] = [:]
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
  var wheel = ScheduleTimingWheel<Entry>(slots: Limits.wheelSlots, at: 0)
  /// The use of each limit by each account.
  var ledger: QuotaLedger
  private let seed: UInt64

  init(
    seed: UInt64, concurrency: Int, perHost: Int, limits: ScheduleLimits = .init(targets: .max, checksPerSecond: nil)
  ) {
    self.seed = seed
    ledger = QuotaLedger(limits)
    limiter = CheckConcurrencyLimiter(total: concurrency, perHost: perHost)
  }

  // MARK: - Targets

  /// Adds or changes a target; its status is kept unless what is checked changes.
  ///
  /// - Returns: the change to publish, if any, and the run to cancel.
  mutating func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, by account: TargetAccount? = nil, at now: Moment
  ) -> (change: EngineTargetChange?, cancelled: CheckRun?) {
    let id = definition.id
    let account = self.account(account, of: id, origin)
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
      old.report = report(definition, origin, account, status)
    } else {
      status.pause(definition.isPaused, at: now.time)
      if !definition.isSameCheck(as: old.definition) {
        status = TargetStatus(at: now.time, isPaused: definition.isPaused)
      }
      cancelled = remove(id)
      add(definition, origin, account, status, at: now)
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
    at now: Moment
  ) {
    revision += 1
    ledger.charge(definition, to: account)
    let entry = Entry(report(definition, origin, account, status))
    entries[definition.id] = entry
    let isAdmitted = definition.isPaused || ledger.admit(1, for: account, at: now.uptime) == .admitted
    // A client that changes a target repeatedly must not get a check for each change.
    let earliest = isAdmitted ? now.uptime : now.uptime + definition.interval
    plan(entry, at: nextRegularTime(definition, after: earliest, now))
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
  mutating func remove(_ id: String) -> CheckRun? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    ledger.refund(entry.definition, to: entry.account)
    // Its entries in the wheel and in the queue are ignored when they are reached.
    entry.tick = Entry.unplanned
    defer { entry.activity = .idle }
    switch entry.activity {
    case .idle: return nil
    case .queued:
      waiting -= 1
      return nil
    case .running(let run, _):
      limiter.finish(entry.host)
      return CheckRun(entry: entry, number: run)
    }
  }

  /// Sets the number that revisions of this process exceed.
  mutating func setFirstRevision(_ first: UInt64) { revision = max(revision, first) }

  // MARK: - Time

  /// The first time after `earliest` at the phase of a target: stable over restarts, and evenly distributed over targets.
  func nextRegularTime(_ definition: TargetDefinition, after earliest: Duration, _ now: Moment) -> Duration {
    let interval = definition.interval.nanoseconds
    let hash = Int64(SchedulePhaseHash.of(definition.id, seed: seed) % UInt64(interval))
    let phase = hash - hash % Limits.phaseStep.nanoseconds
    let wall = now.time.microseconds &* 1000 &+ (earliest - now.uptime).nanoseconds
    return earliest + .nanoseconds(interval - ((wall &- phase) % interval + interval) % interval)
  }

  mutating func plan(_ entry: Entry, at due: Duration) {
    entry.due = due
    // Rounded up, so that no check starts before it is due.
    entry.tick = wheel.insert(entry, at: (due + Limits.wheelTick - .nanoseconds(1)).ticks)
    // Many targets were changed or removed long before they were due.
    if wheel.count > 2 * entries.count + Limits.staleWheelEntries {
      // A target that was changed back has two entries with the same tick.
      var kept: Set<ObjectIdentifier> = []
      wheel.sweep { entry, tick in entry.tick == tick && kept.insert(ObjectIdentifier(entry)).inserted }
    }
  }

  /// Queues a check of a target, unless one is queued or running.
  mutating func enqueue(_ entry: Entry, due: Duration) {
    guard entry.activity == .idle else { return }
    lastRun += 1
    waiting += 1
    entry.activity = .queued(run: lastRun, due: due)
    limiter.enqueue(CheckRun(entry: entry, number: lastRun), to: entry.host)
  }

  // MARK: - Quota

  /// The account that a change of a target is charged to: without a caller the one that has it.
  func account(_ caller: TargetAccount?, of id: String, _ origin: TargetOrigin) -> TargetAccount {
    if origin == .configuration { return .file }
    if origin == .fleet { return .fleet }
    guard let caller else { return entries[id].map(\.account).flatMap { $0 == .file ? nil : $0 } ?? .anonymous }
    return caller
  }

  /// The limit that a caller's registration exceeds; nil when it may be registered.
  func excess(
    _ definition: TargetDefinition, by caller: TargetAccount?, _ origin: TargetOrigin = .runtime
  ) -> QuotaExcess? {
    let old = entries[definition.id]
    // Sending back what is registered changes nothing, and is not charged.
    if old?.definition == definition { return nil }
    return ledger.excess(
      definition, by: account(caller, of: definition.id, origin),
      replacing: old.map { ($0.definition, $0.account) })
  }
}
