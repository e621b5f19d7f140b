internal import NetworkReachability
internal import ReachabilityModel

// The entries of `dependsOn` under the lock of the schedule.
extension TargetRegistry {
  /// Why a target cannot have its entries; nil when it can.
  ///
  /// Those of the configuration were judged with the file.
  func dependencyError(
    _ definition: TargetDefinition, _ old: TargetReport?, _ origin: TargetOrigin
  ) -> ScheduleChangeError? {
    guard origin == .runtime, definition.dependsOn != old?.definition.dependsOn ?? [] else { return nil }
    return fault(of: definition) { state.dependencies.graph.children(of: $0) }.map { .dependency($0) }
  }

  private func fault(
    of definition: TargetDefinition, children: (String) -> Set<String> = { _ in [] }
  ) -> DependencyFault? {
    DependencyRules.fault(
      of: definition.id, definition.dependsOn, entries: { possibleParent($0)?.definition.dependsOn },
      children: children)
  }

  /// A target of the configuration or of a client, on which clients' targets may depend.
  private func possibleParent(_ id: String) -> ScheduleEntry? {
    state.entries[id].flatMap { $0.report.origin == .fleet ? nil : $0 }
  }

  /// Removes the entries of clients' targets that cannot stay.
  ///
  /// - Parameters:
  ///   - ids: the targets to examine; those of others than clients are skipped.
  ///   - now: the present time.
  /// - Returns: the parents that were removed, by the identifier of the child, and the effects.
  mutating func removeInvalidDependencies(of ids: some Sequence<String>, at now: ScheduleMoment) -> (
    removed: [String: [String]], effects: [@Sendable () -> Void]
  ) {
    var (removed, effects): ([String: [String]], [@Sendable () -> Void]) = ([:], [])
    let clients = ids.sorted().compactMap { state.entries[$0] }.filter { $0.report.origin == .runtime }
      .map(\.definition)
    // From the top: a chain that became too long loses the entry at which it does, and what is below stays.
    for index in DependencyRules.order(of: clients) where fault(of: clients[index]) != nil {
      let definition = withValidDependencies(clients[index])
      removed[definition.id] = Set(clients[index].dependsOn.flatMap(\.parents))
        .subtracting(definition.dependsOn.flatMap(\.parents)).sorted()
      let change = put(definition, .runtime, nil, .none, isPublished: true, at: now)
      effects.append { change.run() }
    }
    return (removed, effects)
  }

  /// A target with those of its entries that can stay; unknown parents are removed from them.
  private func withValidDependencies(_ definition: TargetDefinition) -> TargetDefinition {
    var valid = definition
    valid.dependsOn = []
    for entry in definition.dependsOn {
      let parents = entry.parents.filter { possibleParent($0) != nil }
      // Without an alternative, an entry may be the same as another one.
      guard !parents.isEmpty, !valid.dependsOn.contains(where: { Set($0.parents) == Set(parents) }) else { continue }
      valid.dependsOn.append(TargetDependency(anyOf: parents))
      if fault(of: valid) != nil { valid.dependsOn.removeLast() }
    }
    return valid
  }

  /// Completes a configuration whose targets are registered.
  ///
  /// - Returns: the parents that were removed from clients' targets, by the identifier of the child, and the effects.
  mutating func finishConfiguring(isFirst: Bool, at now: ScheduleMoment) -> (
    dependencies: [String: [String]], effects: [@Sendable () -> Void]
  ) {
    var effects: [@Sendable () -> Void] = []
    if isFirst { effects.append(monitor.record(takeUnconfigured(), at: now.time)) }
    let (removed, changes) = removeInvalidDependencies(of: state.dependencies.graph.ids, at: now)
    effects += changes
    if isFirst {
      let (changes, ids) = discardRestoredOutages(at: now)
      effects.append(record(changes, of: ids, at: now))
    }
    return (removed, effects)
  }

  /// The removal of targets that the configuration has lost while no process ran.
  private mutating func takeUnconfigured() -> [EngineTargetChange] {
    let left = state.restored.values.sorted { $0.definition.id < $1.definition.id }
    state.restored = [:]
    return left.map { target in
      var report = TargetReport(
        definition: target.definition, origin: target.origin, revision: target.revision, changes: target.changes,
        status: TargetStatus(restoring: target.status))
      report.isPausedByConfiguration = target.isPausedByConfiguration
      return EngineTargetChange(
        from: report.status.state, report: report, causes: [.configuration, .restart], isRemoved: true)
    }
  }

  /// Resets the restored state of targets that do not depend on a failing one any more; the next result decides about them.
  ///
  /// - Returns: the changes to publish, and the ids of all restored outages.
  private func discardRestoredOutages(at now: ScheduleMoment) -> (changes: [EngineTargetChange], ids: [String]) {
    let restored = state.entries.values.filter { $0.report.status.reason == .dependencyDown }
      .sorted { $0.definition.id < $1.definition.id }
    let changes = restored.compactMap { entry -> EngineTargetChange? in
      let root = state.dependencies.root(of: entry.definition.id, in: state.entries)
      return entry.change([.configuration, .restart], at: now) { status in
        if let root { status.setDependency(root) } else { status = TargetStatus(at: now.time) }
      }
    }
    return (changes, restored.map(\.definition.id))
  }
}
