internal import ReachabilityModel

/// The state of the engine: a pure state machine that takes readings and returns numbered transitions.
///
/// It has no clock, lock or descriptor. Decisions are made here, effects happen in ``Engine``.
struct EngineState {
  /// The delay before a loss is reported; zero for none.
  var settle: Duration
  /// Which types of interface count.
  private let requirement: InterfaceRequirement
  private(set) var snapshot = Snapshot.unknown(.starting)
  /// The tables of the last reading, for lookups between readings.
  private(set) var tables = KernelTables()
  /// The time of the last reading; nil before the first, and again after ``reset(at:)``.
  private(set) var lastReading: Timestamp?
  private var lastUptime = Duration.zero
  var hasReading: Bool { lastReading != nil }

  /// The number of the last transition of any kind.
  private(set) var lastNumber: UInt64 = 0
  private var ipv4 = DebouncedVerdict(NetworkPath.unknown(.starting))
  private var ipv6 = DebouncedVerdict(NetworkPath.unknown(.starting))
  private var targets: EngineTargetEvaluator
  /// The families whose default path the next reading evaluates.
  private var affectedFamilies = Set(IPAddress.Family.allCases)
  private var tunnels = EngineTunnelState()
  /// The last survey affected every target.
  private var affectsEverything = true
  /// The number of watches that belong to a schedule.
  private var scheduledWatches = 0
  /// The causes since the first pending loss, so that a delayed verdict names what started it.
  private var pendingCauses = PendingCauses()
  private var lifetimes = EngineRouteLifetimes()
  /// The state that an earlier process published last; nil after the first reading.
  private var restored: RestoredEngineState?

  init(settle: Duration, permitting requirement: InterfaceRequirement = .none) {
    self.settle = settle
    self.requirement = requirement
    targets = EngineTargetEvaluator(permitting: requirement)
  }

  /// Continues the sequence of an earlier process: the first reading is compared with the state that it published last.
  mutating func restore(_ state: RestoredEngineState) {
    guard !hasReading else { return }
    lastNumber = state.lastNumber
    snapshot.sequence = state.lastNumber
    restored = state
  }

  // MARK: - Lookups

  /// The lookups for the next reading: those that the survey affects, and those without an answer so far.
  mutating func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    lifetimes.beginSurvey(at: survey.uptime)
    for family in IPAddress.Family.allCases where affects(survey, family) { affectedFamilies.insert(family) }
    let machine =
      affectedFamilies.isEmpty
      ? []
      : TargetRules.queries(for: .default, permitting: requirement, in: survey.tables)
        .filter { affectedFamilies.contains($0.destination.family) }
    affectsEverything = survey.changes.isAny
    let tunnels = affectedFamilies.isEmpty && lifetimes.due.isEmpty ? [] : TunnelRules.queries(in: survey.tables)
    return machine + tunnels + targets.queries(for: survey, due: lifetimes.due)
  }

  /// Whether a survey affects the default path of a family.
  private func affects(_ survey: KernelSurvey, _ family: IPAddress.Family) -> Bool {
    if survey.changes.isAny { return true }
    if let hold = family == .ipv4 ? ipv4.holdUntil : ipv6.holdUntil, hold <= survey.uptime { return true }
    return StatusRules.sentinels(family).contains { sentinel in
      lifetimes.due.contains { $0.destination == sentinel }
        || survey.changes.blocks.contains { $0.prefix.contains(sentinel) }
    }
  }

  /// Whether the coming survey must list the prefixes of all routes and rules.
  func needsRouteBlocks(isAfterLoss: Bool) -> Bool { targets.needsPrefixes(isAfterLoss: isAfterLoss) }

  /// The uptime at which the kernel must be read again without an event: the settle time of a loss ends, or a route expires.
  var nextDeadline: Duration? {
    let immediately = targets.needsAnotherReading ? lastUptime : nil
    return [ipv4.holdUntil, ipv6.holdUntil, targets.nextDeadline, lifetimes.nextDeadline, immediately]
      .compactMap(\.self).min()
  }

  /// Whether a loss waits for the settle time.
  private var hasPendingLoss: Bool {
    ipv4.holdUntil != nil || ipv6.holdUntil != nil || targets.nextDeadline != nil
  }

  // MARK: - Readings

  struct Outcome {
    /// The transitions of this machine, in order; those of watched targets follow in ``EngineState/transitions(of:)``.
    var machine: [Transition] = []
    var watched = EngineTargetEvaluator.Outcome()
    var time: Timestamp
    var causes: Set<Cause> = []
  }

  mutating func ingest(_ raw: KernelReading) -> Outcome {
    var reading = raw
    let isFirst = !hasReading
    // Most readings follow from route changes and have the tables of the last reading.
    let mayDiffer = tunnels.setTables(raw.tables, isFirst: isFirst)
    reading.tables = mayDiffer ? tunnels.apply(to: raw) : tables
    var difference = InterfaceDifference(none: snapshot.interfaces)
    if mayDiffer {
      let states = reading.tables.interfaceStates
      restored?.alignPaths(with: states)
      let before = isFirst ? restored?.interfaces ?? states : snapshot.interfaces
      difference = InterfaceDifference(from: before, to: states)
    }
    let causes = reading.causes.union(difference.causes).union(lifetimes.causes(of: reading))
    if !isFirst { pendingCauses.add(causes, minor: reading.minorCauses) }
    lastReading = reading.time
    lastUptime = reading.uptime
    // An interface changed by way of its tunnel, without an event that affects every target.
    let hasOtherTunnels = !affectsEverything && reading.tables.interfaces != tables.interfaces
    tables = reading.tables
    lifetimes.update(from: reading)

    var transitions: [Transition] = []
    snapshot.interfaces = difference.states
    for entry in difference.entries {
      // Route and rule events of the same batch do not concern an interface; lost events might.
      let causes =
        isFirst ? [.restart] : entry.causes.union(reading.causes.intersection([.resync, .resume]))
      var transition = number(.interface(entry.state, removed: entry.removed), reading.time, causes)
      // What happened to a name while no process observed it is not known.
      transition.renamedTo = isFirst ? nil : entry.renamedTo
      transitions.append(transition)
    }
    transitions += evaluateMachine(reading, isFirst: isFirst)
    restored = nil
    let watched = targets.evaluate(reading, settle: settle)
    if hasOtherTunnels { markEverythingAffected() }
    let outcome = Outcome(machine: transitions, watched: watched, time: reading.time, causes: pendingCauses.all)
    // Lookups that were missing follow in another reading, which has no event of its own.
    if !hasPendingLoss, !targets.needsAnotherReading { pendingCauses = PendingCauses() }
    return outcome
  }

  /// All transitions that report the effect of a reading, in order.
  mutating func transitions(of outcome: Outcome) -> EnginePublication {
    targets.transitions(
      outcome.watched.changes, after: outcome.machine, sequence: lastNumber, time: outcome.time, causes: outcome.causes)
  }

  /// The targets that a reading evaluated, unordered.
  func evaluatedTargets(of outcome: Outcome) -> [ReachabilityTarget] {
    targets.reported.evaluatedTargets(of: outcome.watched)
  }

  /// Sets every path to unknown, because the kernel can no longer be read.
  mutating func kernelFailed(at time: Timestamp) -> EnginePublication {
    let unknown = NetworkPath.unknown(.kernelUnavailable)
    ipv4.replace(with: unknown)
    ipv6.replace(with: unknown)
    lifetimes.removeAll()
    pendingCauses = PendingCauses()
    // What is published now follows the stored state, too.
    affectedFamilies = Set(IPAddress.Family.allCases)
    let machine = publishMachine(at: time, causes: [], isFirst: !hasReading)
    return targets.transitions(
      targets.fail(with: unknown), after: machine, sequence: lastNumber, time: time, causes: [])
  }

  /// Removes what was read, after the source was stopped; numbers and watched targets continue.
  ///
  /// - Returns: for observers without a subscription, the transitions of every target to an unknown path.
  mutating func reset(at time: Timestamp) -> [Transition] {
    let sequence = snapshot.sequence
    let unknown = targets.transitions(
      targets.fail(with: .unknown(.starting)), after: [], sequence: sequence, time: time, causes: []
    ).transitions
    snapshot = .unknown(.starting)
    snapshot.sequence = sequence
    ipv4 = DebouncedVerdict(.unknown(.starting))
    ipv6 = DebouncedVerdict(.unknown(.starting))
    targets.reset()
    lastReading = nil
    pendingCauses = PendingCauses()
    lifetimes.removeAll()
    affectedFamilies = Set(IPAddress.Family.allCases)
    return unknown
  }

  private mutating func number(_ change: Transition.Change, _ time: Timestamp, _ causes: Set<Cause>) -> Transition {
    lastNumber += 1
    snapshot.sequence = lastNumber
    return Transition(sequence: lastNumber, time: time, causes: Cause.sorted(causes), change: change)
  }

  /// Numbers a change of a registered target, in one sequence with the changes of this machine.
  mutating func number(_ change: EngineTargetChange, at time: Timestamp) -> Transition {
    lastNumber += 1
    return Transition(
      sequence: lastNumber, time: time, causes: Cause.sorted(change.causes),
      change: .target(from: change.from, to: change.report, removed: change.isRemoved))
  }

  /// Numbers a change of a gate, in the same sequence.
  mutating func number(_ change: EngineGateChange, at time: Timestamp) -> Transition {
    lastNumber += 1
    return Transition(
      sequence: lastNumber, time: time, causes: Cause.sorted(change.causes),
      change: .gate(from: change.from, to: change.report, removed: change.isRemoved))
  }

  private mutating func markEverythingAffected() {
    affectedFamilies = Set(IPAddress.Family.allCases)
    targets.markEverythingAffected()
  }

  // MARK: - This machine

  private mutating func evaluateMachine(_ reading: KernelReading, isFirst: Bool) -> [Transition] {
    for family in IPAddress.Family.allCases where affectedFamilies.contains(family) {
      guard let path = machinePath(family, reading.answers, in: reading.tables) else { continue }
      affectedFamilies.remove(family)
      switch family {
      case .ipv4: ipv4.update(to: path, at: reading.uptime, settle: settle, isLoss: NetworkPath.isLoss)
      case .ipv6: ipv6.update(to: path, at: reading.uptime, settle: settle, isLoss: NetworkPath.isLoss)
      }
    }
    return publishMachine(at: reading.time, causes: pendingCauses.all, isFirst: isFirst)
  }

  /// The default path of a family; nil when a lookup has no answer.
  private func machinePath(
    _ family: IPAddress.Family, _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> NetworkPath? {
    let queries = TargetRules.queries(for: .default, permitting: requirement, in: tables)
      .filter { $0.destination.family == family }
    guard queries.allSatisfy({ answers[$0] != nil }) else { return nil }
    let verdict = TargetRules.verdict(for: .default, permitting: requirement, answers: answers, in: tables)
    var path = verdict.addresses.first { $0.address.family == family }?.path ?? .unknown(.starting)
    // The prefix that matched the sentinel address is an implementation detail; its change is not a transition.
    path.prefix = nil
    path.routeType = nil
    return path
  }

  private mutating func publishMachine(at time: Timestamp, causes: Set<Cause>, isFirst: Bool) -> [Transition] {
    let old = restored?.machine ?? snapshot.machine
    let causes: Set<Cause> = restored?.machine == nil ? causes : [.restart]
    let isFirst = isFirst && restored?.machine == nil
    if let since = restored?.since { snapshot.since = since }
    restored?.machine = nil
    let new = MachinePath(ipv4: ipv4.published, ipv6: ipv6.published)
    snapshot.machine = new
    guard new != old else { return [] }
    guard new.status == old.status else {
      snapshot.since = time
      return [number(.status(from: old, to: new, initial: isFirst), time, causes)]
    }
    return [number(.path(from: old, to: new), time, causes)]
  }

  // MARK: - Watched targets

  /// Starts to watch a target, or counts another subscription to it.
  ///
  /// - Returns: false when the limit of targets is reached.
  mutating func watch(_ target: ReachabilityTarget, forSchedule: Bool = false) -> Bool {
    if forSchedule { scheduledWatches += 1 }
    // Registered targets have a limit of their own and do not count against that of subscriptions.
    return targets.watch(target, limit: forSchedule ? .max : Limits.watchedTargets + scheduledWatches)
  }

  /// Ends a subscription to each of some targets.
  mutating func unwatch(_ removed: some Collection<ReachabilityTarget>, forSchedule: Bool = false) {
    if forSchedule { scheduledWatches -= removed.count }
    for target in removed { targets.unwatch(target) }
  }

  /// The last published verdict for a watched target; nil when it is not watched or not evaluated yet.
  func verdict(of target: ReachabilityTarget) -> HostVerdict? { targets.reported.verdict(of: target) }

  /// The last published verdicts of all watched targets.
  var reportedVerdicts: ReportedVerdicts { targets.reported }

  /// The identifier of a watched target; nil when it is not watched.
  func id(of target: ReachabilityTarget) -> EngineTargetID? { targets.table.id(of: target) }

  /// The verdicts for the first `limit` watched targets, and the number of watched targets.
  func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    let verdicts = targets.reported
    return (targets.table.inOrder.prefix(limit).compactMap { verdicts.verdict(of: $0) }, targets.count)
  }

  /// Applies the resolver's answer for a target; the next reading evaluates the target with it.
  mutating func setResolution(_ resolution: NameResolution, of target: ReachabilityTarget) {
    targets.setResolution(resolution, of: target)
  }

  // MARK: - Audit

  /// Counts the differences between an audit's reading and the held state.
  ///
  /// While a loss is pending or a route is about to expire, differences are expected and not counted.
  func differences(in raw: KernelReading) -> Int {
    var audit = raw
    audit.tables = TunnelRules.applied(to: raw.tables, raw.answers)
    guard hasReading, ipv4.holdUntil == nil, ipv6.holdUntil == nil,
      !lifetimes.hasExpiry(by: audit.uptime + Limits.unreadableLifetime)
    else { return 0 }
    var found = InterfaceDifference(from: snapshot.interfaces, to: audit.tables.interfaceStates).entries.count
    for (family, published) in [(IPAddress.Family.ipv4, ipv4.published), (.ipv6, ipv6.published)] {
      if let path = machinePath(family, audit.answers, in: audit.tables), path != published { found += 1 }
    }
    return found + targets.differences(in: audit)
  }
}
