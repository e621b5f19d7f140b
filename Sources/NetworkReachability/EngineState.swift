internal import ReachabilityModel

/// The one truth about what we say: a pure machine that takes readings and returns numbered transitions.
///
/// It has no clock, lock or descriptor. Decide here, act in ``Engine``.
struct EngineState {
  /// How long a loss waits before it is told; zero for not at all.
  var settle: Duration
  /// Which types of interface count.
  private let requirement: InterfaceRequirement
  /// What is known now.
  private(set) var snapshot = Snapshot.unknown(.starting)
  /// The last reading's tables, for questions in between.
  private(set) var tables = KernelTables()
  /// When the last reading was made; nil before the first, and again after ``reset()``.
  private(set) var lastReading: Timestamp?
  private var lastUptime = Duration.zero
  /// True when there is something to tell.
  var hasReading: Bool { lastReading != nil }

  /// The number of the last transition, whatever it was about.
  private(set) var lastNumber: UInt64 = 0
  private var ipv4 = SettledVerdict(NetworkPath.unknown(.starting))
  private var ipv6 = SettledVerdict(NetworkPath.unknown(.starting))
  private var book: WatchBook
  /// The families whose default path the next reading asks about.
  private var touchedFamilies = Set(IPAddress.Family.allCases)
  /// The last reading's tables as they were read, without what tunnels take from beneath.
  private var plainTables = KernelTables()
  /// What must be known of them to say what tunnels take.
  private var tunnelQueries: [RouteQuery] = []
  /// The last answers about what is beneath tunnels.
  private var tunnelAnswers: [RouteQuery: RouteAnswer] = [:]
  /// The last survey touched every target.
  private var wasAnyTouched = true
  /// How many of the watches are a schedule's.
  private var scheduledWatches = 0
  /// Causes since the first loss that still waits, so that a late verdict names what began it.
  private var carriedCauses: Set<Cause> = []
  /// When the route of an answer runs out, on the readings' scale, where it does.
  var expiries: [RouteQuery: Duration] = [:]
  /// Until when to go on asking questions whose answers have run out.
  var revivals: [RouteQuery: Duration] = [:]
  /// The questions about routes that run out which the last survey asked.
  var dueQueries: Set<RouteQuery> = []
  /// When the last survey was made, and when the last that asked about all routes that run out.
  var lastSurvey = Duration.zero
  var lastExpiryCheck = Duration.zero

  init(settle: Duration, permitting requirement: InterfaceRequirement = .none) {
    self.settle = settle
    self.requirement = requirement
    book = WatchBook(permitting: requirement)
  }

  // MARK: - Questions

  /// What must be looked up for the next reading: what the survey touches, and what was not answered yet.
  mutating func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    lastSurvey = survey.uptime
    dueQueries = takeDue(at: survey.uptime)
    for family in IPAddress.Family.allCases where touches(survey, family) { touchedFamilies.insert(family) }
    let machine =
      touchedFamilies.isEmpty
      ? []
      : TargetRules.queries(for: .default, permitting: requirement, in: survey.tables)
        .filter { touchedFamilies.contains($0.destination.family) }
    wasAnyTouched = survey.changes.isAny
    let tunnels = touchedFamilies.isEmpty && dueQueries.isEmpty ? [] : TunnelRules.queries(in: survey.tables)
    return machine + tunnels + book.queries(for: survey, due: dueQueries)
  }

  /// Whether a survey touches the default path of a family.
  private func touches(_ survey: KernelSurvey, _ family: IPAddress.Family) -> Bool {
    if survey.changes.isAny { return true }
    if let hold = family == .ipv4 ? ipv4.holdUntil : ipv6.holdUntil, hold <= survey.uptime { return true }
    return StatusRules.sentinels(family).contains { sentinel in
      dueQueries.contains { $0.destination == sentinel }
        || survey.changes.blocks.contains { $0.prefix.contains(sentinel) }
    }
  }

  /// Whether the coming survey should list the blocks of all routes and rules.
  mutating func needsRouteBlocks(isAfterLoss: Bool) -> Bool { book.needsBlocks(isAfterLoss: isAfterLoss) }

  /// When the kernel must be read again even if it says nothing: a loss has settled, or a route has run out.
  var nextDeadline: Duration? {
    let round = book.needsAnotherRound ? lastUptime : nil
    return [ipv4.holdUntil, ipv6.holdUntil, book.nextHold, nextLifeCheck, round].compactMap(\.self).min()
  }

  // MARK: - Readings

  /// What a reading changed.
  struct Outcome {
    /// The transitions, in order; those of watched targets come last and are made by ``EngineState/transitions(of:)``.
    var machine: [Transition] = []
    /// What became of watched targets.
    var watched = WatchBook.Outcome()
    var time: Timestamp
    var causes: Set<Cause> = []
  }

  /// Takes in a reading and judges what it answers.
  mutating func ingest(_ raw: KernelReading) -> Outcome {
    var reading = raw
    let isFirst = !hasReading
    // Most changes are of routes: the tables are those of the last reading.
    let hasNewTables = isFirst || raw.tables != plainTables
    if hasNewTables {
      plainTables = raw.tables
      tunnelQueries = TunnelRules.queries(in: raw.tables)
    }
    reading.tables = hasNewTables || !tunnelQueries.isEmpty ? withTunnels(raw) : tables
    var difference = TableDifference(none: snapshot.interfaces)
    if hasNewTables || !tunnelQueries.isEmpty {
      let states = reading.tables.interfaceStates
      difference = TableDifference(from: isFirst ? states : snapshot.interfaces, to: states)
    }
    var causes = reading.causes.union(difference.causes)
    causes.formUnion(lifeCauses(of: reading))
    carriedCauses.formUnion(isFirst ? [] : causes)
    lastReading = reading.time
    lastUptime = reading.uptime
    let isOtherBeneath = hasOtherTunnels(reading.tables)
    tables = reading.tables
    noteLives(in: reading)

    var transitions: [Transition] = []
    snapshot.interfaces = difference.states
    for entry in difference.entries {
      // Route and rule events of the same batch say nothing about an interface; lost events might.
      let causes = entry.causes.union(reading.causes.intersection([.resync, .resume]))
      transitions.append(number(.interface(entry.state, removed: entry.removed), reading.time, causes))
    }
    transitions += judgeMachine(reading, isFirst: isFirst)
    let watched = book.judge(reading, settle: settle)
    // What was asked for other reasons is judged by now; the rest by the next reading, which is made at once.
    if isOtherBeneath { touchEverything() }
    let outcome = Outcome(machine: transitions, watched: watched, time: reading.time, causes: carriedCauses)
    if ipv4.holdUntil == nil, ipv6.holdUntil == nil, book.nextHold == nil { carriedCauses = [] }
    return outcome
  }

  /// All that is to be told of what a reading changed, in order.
  mutating func transitions(of outcome: Outcome) -> [Transition] {
    outcome.machine
      + book.transitions(
        outcome.watched.changes, sequence: lastNumber, time: outcome.time, causes: outcome.causes)
  }

  /// The targets that a reading judged anew, in no order.
  func judgedTargets(of outcome: Outcome) -> [ReachabilityTarget] { book.targets(of: outcome.watched) }

  /// The kernel cannot be read any more: nothing is known, and saying otherwise would be a guess.
  mutating func kernelFailed(at time: Timestamp) -> [Transition] {
    let unknown = NetworkPath.unknown(.kernelUnavailable)
    ipv4.replace(with: unknown)
    ipv6.replace(with: unknown)
    expiries = [:]
    revivals = [:]
    carriedCauses = []
    touchedFamilies = Set(IPAddress.Family.allCases)
    let machine = publishMachine(at: time, causes: [], isFirst: !hasReading)
    return machine
      + book.transitions(book.fail(with: unknown), sequence: lastNumber, time: time, causes: [])
  }

  /// Forgets what is known, after the source was stopped; numbers and watches go on.
  ///
  /// - Returns: for whoever goes on watching without a subscription: of each target nothing is known any more.
  mutating func reset(at time: Timestamp) -> [Transition] {
    let sequence = snapshot.sequence
    let unknown = book.transitions(book.fail(with: .unknown(.starting)), sequence: sequence, time: time, causes: [])
    snapshot = .unknown(.starting)
    snapshot.sequence = sequence
    ipv4 = SettledVerdict(.unknown(.starting))
    ipv6 = SettledVerdict(.unknown(.starting))
    book.reset()
    lastReading = nil
    carriedCauses = []
    expiries = [:]
    revivals = [:]
    touchedFamilies = Set(IPAddress.Family.allCases)
    return unknown
  }

  private mutating func number(_ change: Transition.Change, _ time: Timestamp, _ causes: Set<Cause>) -> Transition {
    lastNumber += 1
    snapshot.sequence = lastNumber
    return Transition(sequence: lastNumber, time: time, causes: Cause.sorted(causes), change: change)
  }

  /// Numbers a change of a registered target: it is part of one history with the machine's, and changes nothing here.
  mutating func number(_ news: TargetNews, at time: Timestamp) -> Transition {
    lastNumber += 1
    return Transition(
      sequence: lastNumber, time: time, causes: Cause.sorted(news.causes),
      change: .target(from: news.from, to: news.report, removed: news.isRemoved))
  }

  // MARK: - This machine

  private mutating func judgeMachine(_ reading: KernelReading, isFirst: Bool) -> [Transition] {
    for family in IPAddress.Family.allCases where touchedFamilies.contains(family) {
      guard let path = machinePath(family, reading.answers, in: reading.tables) else { continue }
      touchedFamilies.remove(family)
      switch family {
      case .ipv4: ipv4.take(path, at: reading.uptime, settle: settle, isLoss: NetworkPath.isLoss)
      case .ipv6: ipv6.take(path, at: reading.uptime, settle: settle, isLoss: NetworkPath.isLoss)
      }
    }
    return publishMachine(at: reading.time, causes: carriedCauses, isFirst: isFirst)
  }

  /// One family's default path; nil when it was not asked about.
  private func machinePath(
    _ family: IPAddress.Family, _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> NetworkPath? {
    let queries = TargetRules.queries(for: .default, permitting: requirement, in: tables)
      .filter { $0.destination.family == family }
    guard queries.allSatisfy({ answers[$0] != nil }) else { return nil }
    let verdict = TargetRules.verdict(for: .default, permitting: requirement, answers: answers, in: tables)
    var path = verdict.addresses.first { $0.address.family == family }?.path ?? .unknown(.starting)
    // Which block matched the sentinel is our own business, and its change no news.
    path.prefix = nil
    path.routeType = nil
    return path
  }

  // MARK: - Tunnels

  /// The tables with what tunnels take from beneath, by answers of this reading or the last that had some.
  private mutating func withTunnels(_ reading: KernelReading) -> KernelTables {
    if tunnelQueries.isEmpty { tunnelAnswers = [:] }
    for query in tunnelQueries { tunnelAnswers[query] = reading.answers[query] ?? tunnelAnswers[query] }
    return TunnelRules.applied(to: reading.tables, tunnelAnswers)
  }

  /// True when interfaces became others without an event that touches every target.
  private func hasOtherTunnels(_ tables: KernelTables) -> Bool {
    hasReading && !wasAnyTouched && tables.interfaces != self.tables.interfaces
  }

  private mutating func touchEverything() {
    touchedFamilies = Set(IPAddress.Family.allCases)
    book.touchEverything()
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

  /// Starts watching a target, or counts one more who does.
  ///
  /// - Returns: false when there are too many targets already.
  mutating func watch(_ target: ReachabilityTarget, forSchedule: Bool = false) -> Bool {
    if forSchedule { scheduledWatches += 1 }
    // Registered targets have a limit of their own, and take no room from those who subscribe.
    return book.watch(target, limit: forSchedule ? .max : Limits.watchedTargets + scheduledWatches)
  }

  /// Stops watching targets that nobody else watches.
  mutating func unwatch(_ targets: some Collection<ReachabilityTarget>, forSchedule: Bool = false) {
    if forSchedule { scheduledWatches -= targets.count }
    for target in targets { book.unwatch(target) }
  }

  /// The last verdict over a watched target; nil when it is not watched or was not judged yet.
  func verdict(of target: ReachabilityTarget) -> HostVerdict? { book.verdict(of: target) }

  /// The first verdicts over watched targets, and how many are watched.
  func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    (book.inOrder.prefix(limit).compactMap { book.verdict(of: $0) }, book.count)
  }

  /// Takes in what the resolver found; the next reading judges by it.
  mutating func resolved(_ target: ReachabilityTarget, _ resolution: NameResolution) {
    book.resolved(target, resolution)
  }

  // MARK: - Audit

  /// Counts what an audit shows otherwise than it is held here.
  ///
  /// Nothing is compared while a loss waits or a route is about to run out: then the two differ rightly.
  func differences(in raw: KernelReading) -> Int {
    var audit = raw
    audit.tables = TunnelRules.applied(to: raw.tables, raw.answers)
    let horizon = audit.uptime + Limits.unreadableLife
    guard hasReading, ipv4.holdUntil == nil, ipv6.holdUntil == nil, !expiries.values.contains(where: { $0 <= horizon })
    else { return 0 }
    var found = TableDifference(from: snapshot.interfaces, to: audit.tables.interfaceStates).entries.count
    for (family, told) in [(IPAddress.Family.ipv4, ipv4.published), (.ipv6, ipv6.published)] {
      if let path = machinePath(family, audit.answers, in: audit.tables), path != told { found += 1 }
    }
    return found + book.differences(in: audit)
  }
}
