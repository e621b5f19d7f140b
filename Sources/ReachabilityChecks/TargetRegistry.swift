internal import NetworkReachability
internal import ReachabilityModel

/// The registered targets, with everything that the lock of a ``CheckSchedule`` protects.
///
/// A change returns its ``TargetChangeEffects``, which the schedule carries out without the lock.
struct TargetRegistry {
  typealias Waiter = @Sendable (CheckOutcome?) -> Void

  var state: ScheduleState
  var routes: ScheduleRouteWatches
  /// The cancellations of running checks, by their runs.
  var cancellations: [Int: any CheckCancellation] = [:]
  /// Callers that wait for a target's next result.
  var waiting: [String: [Waiter]] = [:]
  /// Receives the targets of the fleet whose checks fail for the first time; nil without a fleet.
  var observeFirstFailure: (@Sendable (_ id: String) -> Void)?
  var gates = GateTable()
  var gateObserver: GateObserver?
  let machineObserver: GateMachineObserver
  var wakeTime: Duration?
  private(set) var hasStopped = false
  /// Whether the configuration pauses each of its targets, also when clients have changed that; nil before the first.
  private var configuredPauses: [String: Bool]?
  /// The identifiers in order; nil when they must be sorted.
  private var sortedIDs: [String]?
  let monitor: ReachabilityMonitor

  init(
    _ state: ScheduleState, _ monitor: ReachabilityMonitor, reportingTo observer: ScheduleRouteObserver,
    _ machineObserver: GateMachineObserver
  ) {
    self.state = state
    self.monitor = monitor
    self.machineObserver = machineObserver
    routes = ScheduleRouteWatches(monitor, reportingTo: observer)
  }

  // MARK: - Changes

  /// Registers or changes a target.
  ///
  /// - Parameters:
  ///   - definition: the target.
  ///   - origin: the configuration, or a client.
  ///   - account: the client's account; nil for the one that has the target.
  ///   - precondition: the condition for the change.
  ///   - isPublished: whether a new target is published as a change.
  ///   - now: the present time.
  /// - Returns: the result and its effects.
  mutating func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount?,
    _ precondition: TargetPrecondition, isPublished: Bool, at now: ScheduleMoment
  ) -> TargetChangeEffects {
    var definition = definition.bounded
    // Agents check each target of the fleet by itself: the replicas know the verdicts of its parents.
    if origin == .fleet { definition.dependsOn = [] }
    let old = state.entries[definition.id]?.report
    if let error = precondition.rejection(of: old, origin) ?? dependencyError(definition, old, origin) {
      return TargetChangeEffects(result: .rejected(error))
    }
    if origin != .configuration, let excess = state.excess(definition, by: account, origin) {
      return TargetChangeEffects(result: .rejected(.quota(excess)))
    }
    if let old, old.definition != definition, let error = admitChange(by: account, at: now) {
      return TargetChangeEffects(result: .rejected(error))
    }
    let (change, cancelled) = state.put(definition, origin, by: account, at: now)
    guard let report = state.entries[definition.id]?.report else {
      return TargetChangeEffects(result: .rejected(.missing))
    }
    if let old {
      if old.definition.target.routeTarget != definition.target.routeTarget {
        routes.add(definition)
        routes.remove(old.definition)
      }
    } else {
      routes.add(definition)
      sortedIDs = nil
    }
    return TargetChangeEffects(
      result: old == nil ? .created(report) : .replaced(report),
      cancellation: cancelled.flatMap { cancellations.removeValue(forKey: $0.number) },
      waiting: definition.isPaused ? waiting.removeValue(forKey: definition.id) ?? [] : [],
      // Numbered under the lock, so that the changes of a target are published in order.
      publish: record(
        change.map { old != nil || isPublished || $0.causes.contains(.restart) ? [$0] : [] } ?? [],
        of: [definition.id], isDefinition: true, at: now))
  }

  /// Removes a target.
  ///
  /// - Returns: the effects.
  /// - Throws: why it was not removed.
  mutating func remove(
    _ id: String, _ origin: TargetOrigin, _ account: TargetAccount?, _ precondition: TargetPrecondition,
    removingDependencies: Bool, at now: ScheduleMoment
  ) throws(ScheduleChangeError) -> TargetChangeEffects {
    guard let old = state.entries[id]?.report else { throw .missing }
    if let error = precondition.rejection(of: old, origin) { throw error }
    let children = state.dependencies.graph.children(of: id)
    if origin == .runtime, !removingDependencies, !children.isEmpty { throw .hasChildren(children.sorted()) }
    if let error = admitChange(by: account, at: now) { throw error }
    let run = state.remove(id, at: now)
    routes.remove(old.definition)
    sortedIDs = nil
    let change = EngineTargetChange(from: old.status.state, report: old, causes: [.configuration], isRemoved: true)
    return TargetChangeEffects(
      result: .replaced(old), cancellation: run.flatMap { cancellations.removeValue(forKey: $0.number) },
      waiting: waiting.removeValue(forKey: id) ?? [], publish: record([change], of: [id], isDefinition: true, at: now))
  }

  /// Counts a change against the rate of the account, if a caller makes it.
  mutating func admitChange(by account: TargetAccount?, at now: ScheduleMoment) -> ScheduleChangeError? {
    account.flatMap { state.ledger.changes.admit($0, state.ledger.limits, at: now.uptime) }
  }

  /// Removes and returns the cancellations of the checks that a returned route has made outdated.
  mutating func takeOutdatedChecks() -> [any CheckCancellation] {
    state.takeOutdatedRuns().compactMap { cancellations.removeValue(forKey: $0.number) }
  }

  /// Starts no more checks, and stops to watch the routes.
  ///
  /// - Returns: the running checks to cancel, and the callers that receive no result.
  mutating func stop() -> (cancellations: [any CheckCancellation], waiting: [Waiter]) {
    hasStopped = true
    routes.removeAll()
    defer {
      cancellations = [:]
      waiting = [:]
    }
    return (Array(cancellations.values), waiting.values.flatMap(\.self))
  }

  // MARK: - Configuration

  struct ConfigurationChange {
    /// The identifiers of targets that the configuration no longer contains.
    var removed: [String]
    /// The targets of the configuration; those that clients have paused or resumed stay so.
    var definitions: [TargetDefinition]
    /// The identifiers of targets that clients had registered.
    var takenOver: [String]
    /// Whether no configuration came before.
    var isFirst: Bool
  }

  /// Records the targets of a new configuration.
  ///
  /// - Returns: what the schedule has to change.
  mutating func configure(_ definitions: [TargetDefinition]) -> ConfigurationChange {
    let ids = Set(definitions.map(\.id))
    state.configuredPauses = Dictionary(definitions.map { ($0.id, $0.isPaused) }) { $1 }
    let removed = state.entries.values.filter {
      $0.report.origin == .configuration && !ids.contains($0.definition.id)
    }
    let kept = definitions.map { definition in
      var definition = definition
      if configuredPauses?[definition.id] == definition.isPaused,
        let entry = state.entries[definition.id], entry.report.origin == .configuration
      {
        definition.isPaused = entry.definition.isPaused
      } else if let entry = state.restored[definition.id], entry.isPausedByConfiguration == definition.isPaused {
        // A client had paused or resumed it before the restart.
        definition.isPaused = entry.definition.isPaused
      }
      return definition
    }
    let isFirst = configuredPauses == nil
    configuredPauses = Dictionary(definitions.map { ($0.id, $0.isPaused) }) { $1 }
    return ConfigurationChange(
      removed: removed.map(\.definition.id), definitions: kept,
      takenOver: definitions.map(\.id).filter { state.entries[$0].map { $0.report.origin != .configuration } ?? false },
      isFirst: isFirst)
  }

  /// Continues with the targets of an earlier process.
  mutating func restore(
    _ targets: [RestoredTarget], firstRevision: UInt64, idle: Duration?, at now: ScheduleMoment
  ) {
    state.idle = idle
    state.restore(targets, firstRevision: firstRevision, at: now)
    for target in targets where target.origin != .configuration { routes.add(target.definition) }
    sortedIDs = nil
  }

  // MARK: - Reports

  /// The identifiers in order.
  mutating func orderedIDs() -> [String] {
    let order = sortedIDs ?? state.entries.keys.sorted()
    sortedIDs = order
    return order
  }
}
