internal import ReachabilityModel

/// The one truth about what we say: a pure machine that takes readings and returns numbered transitions.
///
/// It has no clock, lock or descriptor. Decide here, act in ``Engine``.
struct EngineState {
  /// How long a loss waits before it is told; zero for not at all.
  let settle: Duration
  /// Which types of interface count.
  private let requirement: InterfaceRequirement
  /// What is known now.
  private(set) var snapshot = Snapshot.unknown(.starting)
  /// The last reading's tables, for questions in between.
  private(set) var tables = KernelTables()
  /// When the last reading was made; nil before the first, and again after ``reset()``.
  private(set) var lastReading: Timestamp?
  /// True when there is something to tell.
  var hasReading: Bool { lastReading != nil }

  /// The number of the last transition, whatever it was about.
  private(set) var lastNumber: UInt64 = 0
  private var ipv4 = SettledVerdict(Path.unknown(.starting))
  private var ipv6 = SettledVerdict(Path.unknown(.starting))
  private var watches: [Target: Watch] = [:]
  /// The watched targets in the order in which they were asked for: the order of their transitions.
  private var watchOrder: [Target] = []
  /// Causes since the first loss that still waits, so that a late verdict names what began it.
  private var carriedCauses: Set<Cause> = []
  /// When the first of the routes in use runs out, on the readings' scale.
  private var nextExpiry: Duration?

  private struct Watch {
    var verdict: SettledVerdict<HostVerdict>?
    var resolution: NameResolution = .pending
    /// A new answer came since the last verdict.
    var hasNewAnswer = false
    var subscriptions = 1
  }

  init(settle: Duration, permitting requirement: InterfaceRequirement = .none) {
    self.settle = settle
    self.requirement = requirement
  }

  // MARK: - Questions

  /// What must be looked up for the next reading.
  func routeQueries(for tables: KernelTables) -> [RouteQuery] {
    var queries = TargetRules.queries(for: .default, permitting: requirement, in: tables)
    queries += TunnelRules.queries(in: tables)
    for (target, watch) in watches {
      queries += TargetRules.queries(
        for: target, resolution: watch.resolution, permitting: requirement, in: tables)
    }
    return queries
  }

  /// When the kernel must be read again even if it says nothing: a loss has settled, or a route has run out.
  var nextDeadline: Duration? {
    let holds = [ipv4.holdUntil, ipv6.holdUntil] + watches.values.map { $0.verdict?.holdUntil }
    let recheck = nextExpiry.map { $0 + Limits.expiredRouteRecheck }
    return (holds + [recheck]).compactMap(\.self).min()
  }

  // MARK: - Readings

  /// Takes in a reading and returns what changed, in order.
  mutating func ingest(_ reading: KernelReading) -> [Transition] {
    var reading = reading
    reading.tables = TunnelRules.applied(to: reading.tables, reading.answers)
    let isFirst = !hasReading
    let states = reading.tables.interfaceStates
    let difference = TableDifference(from: isFirst ? states : snapshot.interfaces, to: states)
    var causes = reading.causes.union(difference.causes)
    if let nextExpiry, reading.uptime >= nextExpiry { causes.insert(.routeExpired) }
    carriedCauses.formUnion(isFirst ? [] : causes)
    lastReading = reading.time
    tables = reading.tables
    noteExpiries(in: reading)

    var transitions: [Transition] = []
    snapshot.interfaces = difference.states
    for entry in difference.entries {
      // Route and rule events of the same batch say nothing about an interface; lost events might.
      let causes = entry.causes.union(reading.causes.intersection([.resync, .resume]))
      transitions.append(number(.interface(entry.state, removed: entry.removed), reading.time, causes))
    }
    transitions += judgeMachine(reading, isFirst: isFirst)
    transitions += judgeWatches(reading)
    if ipv4.holdUntil == nil, ipv6.holdUntil == nil, watches.values.allSatisfy({ $0.verdict?.holdUntil == nil }) {
      carriedCauses = []
    }
    return transitions
  }

  /// The kernel cannot be read any more: nothing is known, and saying otherwise would be a guess.
  mutating func kernelFailed(at time: Timestamp) -> [Transition] {
    let unknown = Path.unknown(.kernelUnavailable)
    ipv4.replace(with: unknown)
    ipv6.replace(with: unknown)
    nextExpiry = nil
    carriedCauses = []
    let machine = publishMachine(at: time, causes: [], isFirst: !hasReading)
    return machine + watchOrder.compactMap { failWatch($0, unknown, at: time) }
  }

  private mutating func failWatch(_ target: Target, _ unknown: Path, at time: Timestamp) -> Transition? {
    guard let old = watches[target]?.verdict?.published else { return nil }
    let new = HostVerdict(target: target, path: unknown, phase: old.phase)
    watches[target]?.verdict?.replace(with: new)
    guard new != old else { return nil }
    return Transition(sequence: lastNumber, time: time, causes: [], change: .host(from: old, to: new))
  }

  /// Forgets what is known, after the source was stopped; numbers and watches go on.
  mutating func reset() {
    let sequence = snapshot.sequence
    snapshot = .unknown(.starting)
    snapshot.sequence = sequence
    ipv4 = SettledVerdict(.unknown(.starting))
    ipv6 = SettledVerdict(.unknown(.starting))
    for target in watches.keys { watches[target]?.verdict = nil }
    lastReading = nil
    carriedCauses = []
    nextExpiry = nil
  }

  private mutating func noteExpiries(in reading: KernelReading) {
    let lives = reading.answers.values.compactMap { answer -> Duration? in
      guard case .route(let route) = answer else { return nil }
      return route.expiresIn
    }
    let shown = lives.min().map { reading.uptime + max($0, .zero) }
    // In its last ticks a route looks as if it lived for ever: an end that is near stays noted.
    let kept = nextExpiry.flatMap { reading.uptime < $0 && $0 <= reading.uptime + Limits.unreadableLife ? $0 : nil }
    nextExpiry = [shown, kept].compactMap(\.self).min()
  }

  private mutating func number(_ change: Transition.Change, _ time: Timestamp, _ causes: Set<Cause>) -> Transition {
    lastNumber += 1
    snapshot.sequence = lastNumber
    return Transition(sequence: lastNumber, time: time, causes: Cause.sorted(causes), change: change)
  }

  /// Numbers a change of a registered target: it is part of one history with the machine's, and changes nothing here.
  mutating func number(_ news: ScheduleState.News, at time: Timestamp) -> Transition {
    lastNumber += 1
    return Transition(
      sequence: lastNumber, time: time, causes: Cause.sorted(news.causes),
      change: .target(from: news.from, to: news.report))
  }

  // MARK: - This machine

  private mutating func judgeMachine(_ reading: KernelReading, isFirst: Bool) -> [Transition] {
    let verdict = TargetRules.verdict(
      for: .default, permitting: requirement, answers: reading.answers, in: reading.tables)
    func path(_ family: IPAddress.Family) -> Path {
      var path = verdict.addresses.first { $0.address.family == family }?.path ?? .unknown(.starting)
      // Which block matched the sentinel is our own business, and its change no news.
      path.prefix = nil
      path.routeType = nil
      return path
    }
    ipv4.take(path(.ipv4), at: reading.uptime, settle: settle, isLoss: Path.isLoss)
    ipv6.take(path(.ipv6), at: reading.uptime, settle: settle, isLoss: Path.isLoss)
    return publishMachine(at: reading.time, causes: carriedCauses, isFirst: isFirst)
  }

  private mutating func publishMachine(at time: Timestamp, causes: Set<Cause>, isFirst: Bool) -> [Transition] {
    let old = snapshot.machine
    let new = MachinePath(ipv4: ipv4.published, ipv6: ipv6.published)
    guard new != old else { return [] }
    snapshot.machine = new
    guard new.status == old.status else {
      snapshot.since = time
      return [number(.status(from: old, to: new, initial: isFirst), time, causes)]
    }
    return [number(.path(from: old, to: new), time, causes)]
  }

  // MARK: - Watched targets

  private mutating func judgeWatches(_ reading: KernelReading) -> [Transition] {
    watchOrder.compactMap { judgeWatch($0, reading) }
  }

  private mutating func judgeWatch(_ target: Target, _ reading: KernelReading) -> Transition? {
    guard var watch = watches[target] else { return nil }
    defer { watches[target] = watch }
    let queries = TargetRules.queries(
      for: target, resolution: watch.resolution, permitting: requirement, in: reading.tables)
    // A question that came up after this reading was begun is answered by the next one.
    guard queries.allSatisfy({ reading.answers[$0] != nil }) else { return nil }
    let verdict = TargetRules.verdict(
      for: target, resolution: watch.resolution, permitting: requirement, answers: reading.answers,
      in: reading.tables)
    let old = watch.verdict?.published
    if watch.verdict == nil {
      watch.verdict = SettledVerdict(verdict)
    } else {
      watch.verdict?.take(verdict, at: reading.uptime, settle: settle) { Path.isLoss($0.path, $1.path) }
    }
    let causes = carriedCauses.union(watch.hasNewAnswer ? [.dnsChanged] : [])
    guard let new = watch.verdict?.published, new != old else { return nil }
    watch.hasNewAnswer = false
    return Transition(
      sequence: lastNumber, time: reading.time, causes: old == nil ? [] : Cause.sorted(causes),
      change: .host(from: old, to: new))
  }

  /// Starts watching a target, or counts one more who does.
  ///
  /// - Returns: false when there are too many targets already.
  mutating func watch(_ target: Target) -> Bool {
    if watches[target] != nil {
      watches[target]?.subscriptions += 1
      return true
    }
    guard watches.count < Limits.watchedTargets else { return false }
    watches[target] = Watch()
    watchOrder.append(target)
    return true
  }

  /// Stops watching targets that nobody else watches.
  mutating func unwatch(_ targets: some Collection<Target>) {
    for target in targets {
      guard let count = watches[target]?.subscriptions else { continue }
      watches[target]?.subscriptions = count - 1
      if count == 1 { watches[target] = nil }
    }
    if watches.count < watchOrder.count { watchOrder.removeAll { watches[$0] == nil } }
  }

  /// The last verdict over a watched target; nil when it is not watched or was not judged yet.
  func verdict(of target: Target) -> HostVerdict? { watches[target]?.verdict?.published }

  /// The first verdicts over watched targets, and how many are watched.
  func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    (watchOrder.prefix(limit).compactMap(verdict), watches.count)
  }

  /// Takes in what the resolver found; the next reading judges by it.
  mutating func resolved(_ target: Target, _ resolution: NameResolution) {
    guard watches[target] != nil, watches[target]?.resolution != resolution else { return }
    watches[target]?.resolution = resolution
    watches[target]?.hasNewAnswer = true
  }
}
