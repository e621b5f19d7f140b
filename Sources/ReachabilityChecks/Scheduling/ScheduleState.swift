internal import NetworkReachability
internal import ReachabilityModel

/// The schedule's decisions: which target is checked when, and what a result or a change of the way makes of it.
///
/// Pure: time comes in, launches and news go out; ``CheckSchedule`` does them. Here is who is registered and when checks
/// begin; what becomes of them is in the extensions.
struct ScheduleState {
  /// A check to begin.
  struct Launch {
    var run: Int
    var id: String
    var definition: TargetDefinition
    var origin: TargetOrigin
  }

  /// The moment of a decision, on two clocks.
  struct Moment {
    /// Since the schedule began; goes on while the machine sleeps.
    var uptime: Duration
    /// For people, and for the places in the interval.
    var time: Timestamp
  }

  var entries: [String: Entry] = [:]
  /// The targets whose checks are queued or under way, by the number of the run.
  var runs: [Int: String] = [:]
  var slots: CheckSlots
  var stalls = StallWatch()
  var figures = CheckFigures()
  private var nextRun = 0
  private var revision: UInt64 = 0
  private(set) var wheel = TimingWheel<String>(slots: Limits.wheelSlots, at: 0)
  /// Who uses how much of which limit.
  var ledger: QuotaLedger
  private let seed: UInt64

  init(
    seed: UInt64, concurrency: Int, perHost: Int, limits: ScheduleLimits = .init(targets: .max, checksPerSecond: nil)
  ) {
    self.seed = seed
    ledger = QuotaLedger(limits)
    slots = CheckSlots(total: concurrency, perHost: perHost)
  }

  // MARK: - Targets

  /// Adds a target, or changes it: what is known stays when the question does.
  ///
  /// - Returns: the news when anything of it changed, and the run to cancel.
  mutating func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, by account: TargetAccount? = nil, at now: Moment
  ) -> (news: TargetNews?, cancelled: Int?) {
    let id = definition.id
    let account = self.account(account, of: id, origin)
    guard let old = entries[id] else {
      add(definition, origin, account, TargetStatus(at: now.time, isPaused: definition.isPaused), at: now)
      let news = entries[id].map {
        TargetNews(from: $0.report.status.state, report: $0.report, causes: [.configuration])
      }
      return (news, nil)
    }
    guard old.definition != definition || old.report.origin != origin else { return (nil, nil) }
    var status = old.report.status
    var cancelled: Int?
    if definition.asksTheSame(as: old.definition), definition.interval == old.definition.interval,
      definition.isPaused == old.definition.isPaused
    {
      revision += 1
      ledger.refund(old.definition, to: old.account)
      ledger.charge(definition, to: account)
      entries[id]?.account = account
      entries[id]?.report = TargetReport(
        definition: definition, origin: origin, revision: revision, status: status)
    } else {
      status.pause(definition.isPaused, at: now.time)
      if !definition.asksTheSame(as: old.definition) {
        status = TargetStatus(at: now.time, isPaused: definition.isPaused)
      }
      cancelled = remove(id)
      add(definition, origin, account, status, at: now)
      // Until the kernel is heard about the new host, the first check tells.
      if old.host == definition.target.host.remote { entries[id]?.way = old.way }
    }
    let news = entries[id].map {
      TargetNews(from: old.report.status.state, report: $0.report, causes: [.configuration])
    }
    return (news, cancelled)
  }

  /// A new target is checked immediately if the rate of its account allows it, and then at its place in the interval.
  private mutating func add(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount, _ status: TargetStatus,
    at now: Moment
  ) {
    revision += 1
    ledger.charge(definition, to: account)
    entries[definition.id] = Entry(
      report: TargetReport(definition: definition, origin: origin, revision: revision, status: status),
      account: account, told: ToldReason(status.reason))
    let isAdmitted = definition.isPaused || ledger.admit(1, for: account, at: now.uptime) == .admitted
    // A caller that changes a target repeatedly must not get a check for each change.
    let earliest = isAdmitted ? now.uptime : now.uptime + definition.interval
    plan(definition.id, at: regular(definition, after: earliest, now))
    if !definition.isPaused, isAdmitted { enqueue(definition.id, due: now.uptime) }
  }

  /// Removes a target.
  ///
  /// - Returns: the run to cancel.
  mutating func remove(_ id: String) -> Int? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    ledger.refund(entry.definition, to: entry.account)
    switch entry.activity {
    case .idle: return nil
    case .queued(let run, _):
      // Its place in the queue comes to nothing when its turn comes.
      runs[run] = nil
      return nil
    case .running(let run, _):
      runs[run] = nil
      slots.finish(entry.host)
      return run
    }
  }

  // MARK: - Time

  /// A target's own moment after another: the same ones after a restart, and spread evenly over all targets.
  private func regular(_ definition: TargetDefinition, after earliest: Duration, _ now: Moment) -> Duration {
    let interval = definition.interval.nanoseconds
    let place = Int64(StableHash.of(definition.id, seed: seed) % UInt64(interval))
    let wall = now.time.microseconds &* 1000 &+ (earliest - now.uptime).nanoseconds
    return earliest + .nanoseconds(interval - ((wall - place) % interval + interval) % interval)
  }

  mutating func plan(_ id: String, at due: Duration) {
    entries[id]?.due = due
    // The tick that begins right after it: no check begins before it is due.
    entries[id]?.tick = wheel.insert(id, at: (due + Limits.wheelTick - .nanoseconds(1)).ticks)
    // Many that were changed or removed long before their time.
    if wheel.count > 2 * entries.count + Limits.unsweptTicks {
      // Whoever is put back to what was before has the same tick twice.
      var kept: Set<String> = []
      wheel.sweep { [entries] id, tick in entries[id]?.tick == tick && kept.insert(id).inserted }
    }
  }

  /// Has a target checked as soon as there is a place, unless it is waiting or under way already.
  mutating func enqueue(_ id: String, due: Duration) {
    guard let entry = entries[id], entry.activity == .idle else { return }
    nextRun += 1
    runs[nextRun] = id
    entries[id]?.activity = .queued(run: nextRun, due: due)
    slots.enqueue(nextRun, to: entry.host)
  }

  /// What begins now; to be called at ``nextWake(after:)`` at the latest.
  mutating func launches(at now: Moment) -> [Launch] {
    if slots.running > 0 { stalls.sign(at: now.uptime) }
    for (id, tick) in wheel.advance(to: now.uptime.ticks) {
      // It was planned anew meanwhile.
      guard let entry = entries[id], entry.tick == tick else { continue }
      // Half an interval away at least, so that a clock that is set or slewed makes no second check of this one.
      plan(id, at: regular(entry.definition, after: now.uptime + entry.definition.interval / 2, now))
      if entry.definition.isPaused || entry.way == .missing { continue }
      if entry.activity == .idle { enqueue(id, due: entry.due) } else { figures.overlaps += 1 }
    }
    var launches: [Launch] = []
    while launches.count < Limits.checkBurst, let (run, host) = slots.next() {
      guard let id = runs[run], let entry = entries[id], case .queued(_, let due) = entry.activity else {
        slots.finish(host)
        continue
      }
      entries[id]?.activity = .running(run: run, since: now.uptime)
      figures.lag.note(max(.zero, now.uptime - due))
      launches.append(Launch(run: run, id: id, definition: entry.definition, origin: entry.report.origin))
    }
    if slots.running > 0 { stalls.sign(at: now.uptime) }
    return launches
  }

  /// When ``launches(at:)`` must be called next; nil when there is nothing to do.
  func nextWake(after now: Duration) -> Duration? {
    if slots.hasCandidates { return now + Limits.wheelTick }
    let planned = wheel.next.map { Limits.wheelTick * $0 }
    // While checks are under way, the timer shows that this process lives.
    let sign = slots.running > 0 ? now + Limits.signOfLife : nil
    return [planned, sign].compactMap(\.self).min()
  }
}

extension Duration {
  /// Whole nanoseconds.
  var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }

  /// Whole ticks of the wheel; durations divide to a `Double`, by which some multiples of a tick come out as less.
  fileprivate var ticks: Int { Int(nanoseconds / Limits.wheelTick.nanoseconds) }
}
