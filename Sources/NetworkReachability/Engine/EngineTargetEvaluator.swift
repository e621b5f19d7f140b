internal import ReachabilityModel

/// Evaluates all watched targets: composes who is watched, what a change affects, and what was reported.
///
/// ``EngineTargetTable`` has the targets, ``ForwardingClasses`` those that share routes, ``IndividualWatches`` the others (pairs,
/// scoped targets, names, special addresses), ``Debouncer`` the reported paths. A changed route costs one lookup for each
/// class or individual target in its prefix.
///
/// Pure: no clock, no lock. A reading has two steps, ``queries(for:due:)`` and ``evaluate(_:settle:)``.
struct EngineTargetEvaluator {
  /// Which interfaces count.
  let requirement: InterfaceRequirement
  var table = EngineTargetTable()
  var classes = ForwardingClasses()
  var individuals = IndividualWatches()
  var debouncer = Debouncer()
  var paths = EnginePathInterner()
  /// Lookups were missing in the last reading, so that the next must follow immediately.
  var needsAnotherReading = false

  var count: Int { table.count }

  /// The uptime at which the first pending loss must be evaluated again; nil when none is pending.
  var nextDeadline: Duration? { [debouncer.nextDeadline, individuals.nextDeadline].compactMap(\.self).min() }

  init(permitting requirement: InterfaceRequirement = .none) { self.requirement = requirement }

  /// The addresses whose classes decide the verdict; nil for a target with lookups of its own.
  func routedAddresses(of entry: EngineTargetTable.Entry) -> [IPAddress]? {
    TargetRules.routedAddresses(of: entry.target, resolution: entry.resolution, permitting: requirement)
  }

  // MARK: - Targets

  /// Starts to watch a target, or counts another subscription to it.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - limit: the greatest number of targets, including this one.
  /// - Returns: false when the limit is reached.
  mutating func watch(_ target: ReachabilityTarget, limit: Int = Limits.watchedTargets) -> Bool {
    if let id = table.id(of: target) {
      table.retain(id)
      return true
    }
    guard count < limit else { return false }
    let id = table.insert(target)
    debouncer.grow(to: table.columnCount)
    register(id)
    return true
  }

  /// Ends a subscription to a target, and stops to watch the target after the last.
  mutating func unwatch(_ target: ReachabilityTarget) {
    guard let id = table.id(of: target), table.release(id) else { return }
    unregister(id)
    debouncer.clear(id)
    individuals.remove(id)
    table.remove(id)
  }

  /// Applies the resolver's answer for a target; the next reading evaluates the target with it.
  mutating func setResolution(_ resolution: NameResolution, of target: ReachabilityTarget) {
    guard let id = table.id(of: target), table[id]?.resolution != resolution else { return }
    unregister(id)
    // The published verdict stays until the next reading.
    let verdict = individuals[id]?.verdict
    table.setResolution(resolution, of: id)
    register(id)
    individuals.setVerdict(verdict, of: id)
  }

  /// Chooses a target's evaluation mode, and adds its addresses to the index.
  private mutating func register(_ id: EngineTargetID) {
    guard let entry = table[id] else { return }
    guard let addresses = routedAddresses(of: entry) else {
      table.setMode(.individual, of: id)
      individuals.add(id)
      return individuals.markAffected(id)
    }
    if case .name = entry.target.remote {
      table.setMode(.name, of: id)
      individuals.add(id)
    } else {
      table.setMode(.address, of: id)
    }
    for address in Set(addresses.map(\.unmapped)) { classes.add(address, for: id, entry.target.transport) }
  }

  private mutating func unregister(_ id: EngineTargetID) {
    guard let entry = table[id] else { return }
    let addresses = routedAddresses(of: entry) ?? individuals[id]?.queries?.map(\.destination) ?? []
    for address in Set(addresses.map(\.unmapped)) { classes.remove(address, of: id) }
  }

  // MARK: - Lookups

  /// Whether the coming survey must list the prefixes of all routes and rules.
  func needsPrefixes(isAfterLoss: Bool) -> Bool { classes.needsPrefixes(isAfterLoss: isAfterLoss) }

  /// Applies a survey's changes, and returns the lookups that are needed to evaluate the affected table.
  ///
  /// - Parameters:
  ///   - survey: the tables, and what changed.
  ///   - due: lookups whose answers have expired, or may have.
  /// - Returns: the lookups; those without an answer in the next reading are repeated in the one after it.
  mutating func queries(for survey: KernelSurvey, due: Set<RouteQuery>) -> [RouteQuery] {
    guard count > 0 else {
      removeRoutes()
      return []
    }
    classes.mergeAddresses()
    let changed = classes.apply(survey, &debouncer)
    for id in changed { individuals.markAffected(id) }
    if survey.changes.isAny { markAllAffected() }
    for id in classes.markAffected(by: due, &debouncer) { individuals.markAffected(id) }
    markPendingLosses(until: survey.uptime)
    var queries = classes.lookups()
    appendIndividualLookups(in: survey.tables, to: &queries)
    if survey.isAudit { queries += classes.auditSamples() }
    return queries
  }

  /// Has the next reading evaluate every target, and requests that reading immediately.
  mutating func markEverythingAffected() {
    markAllAffected()
    needsAnotherReading = true
  }

  private mutating func markAllAffected() {
    classes.markAllAffected()
    let modes = table
    individuals.markAllAffected { modes.mode($0) == .individual }
  }

  /// Without targets, no routes are mirrored.
  private mutating func removeRoutes() {
    guard classes.prefixes != nil else { return }
    classes.removeAll()
    individuals.forgetAffected()
    paths = EnginePathInterner()
  }

  /// A loss is evaluated again before it is reported.
  private mutating func markPendingLosses(until uptime: Duration) {
    for id in individuals.due(at: uptime) {
      individuals.markAffected(id)
      markClasses(of: id)
    }
    for id in debouncer.due(at: uptime) { markClasses(of: id) }
  }

  private mutating func markClasses(of id: EngineTargetID) {
    guard let entry = table[id] else { return }
    classes.markAffected(routedAddresses(of: entry) ?? [], of: id)
  }

  private mutating func appendIndividualLookups(in tables: KernelTables, to queries: inout [RouteQuery]) {
    for id in individuals.affected {
      guard let entry = table[id], entry.mode == .individual, individuals[id]?.isAffected == true else { continue }
      let needed = TargetRules.queries(
        for: entry.target, resolution: entry.resolution, permitting: requirement, in: tables)
      if needed != individuals[id]?.queries { replaceLookups(of: id, with: needed) }
      queries += needed
    }
  }

  /// Moves a target in the index to the destinations of its new lookups.
  private mutating func replaceLookups(of id: EngineTargetID, with needed: [RouteQuery]) {
    let old = Set(individuals[id]?.queries?.map(\.destination) ?? [])
    let new = Set(needed.map(\.destination))
    for address in old.subtracting(new) { classes.remove(address, of: id) }
    for address in new.subtracting(old) { classes.add(address, for: id, nil, isIndividual: true) }
    individuals.setQueries(needed, of: id)
  }

  // MARK: - Paths

  /// Removes unused paths when there are many.
  mutating func limitPaths() {
    guard paths.count > Limits.idlePaths + 2 * (classes.classes.count + table.columnCount) else { return }
    let renumbered = paths.compact(keeping: (classes.usedPaths + [debouncer.reported]).joined())
    func new(_ old: PathID) -> PathID { old < 0 ? old : renumbered[Int(old)] }
    classes.mapPaths(new)
    debouncer.mapPaths(new)
  }
}
