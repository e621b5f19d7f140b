internal import NetworkReachability
internal import ReachabilityModel

// The gates, under the lock of the schedule, so that their changes are numbered with those of the targets that decide them.
extension TargetRegistry {
  /// Numbers the changes of targets, and then those of the gates that depend on them, in one critical section.
  ///
  /// - Parameters:
  ///   - changes: the changes of targets to publish; they belong to one reading.
  ///   - ids: the targets that may have changed, also without a change to publish.
  ///   - isDefinition: whether their definitions may have changed, and not only their states.
  ///   - now: the present time.
  /// - Returns: the effects that remain, for the caller to run without a lock.
  mutating func record(
    _ changes: [EngineTargetChange], of ids: [String], isDefinition: Bool = false, at now: ScheduleMoment
  ) -> @Sendable () -> Void {
    guard !gates.isEmpty else { return monitor.record(changes, at: now.time) }
    for id in ids {
      if isDefinition {
        gates.update(id, gateTarget(id))
      } else if let entry = state.entries[id] {
        gates.setState(id, entry.gateState)
      }
    }
    let causes = changes.reduce(into: Set<Cause>()) { $0.formUnion($1.causes) }
    return publish(changes, gates.evaluate(machine: monitor.snapshot.status, causes, at: now), at: now)
  }

  /// Decides about the gates whose time has come, or which the machine's status may have changed.
  mutating func advanceGates(at now: ScheduleMoment) -> @Sendable () -> Void {
    guard !gates.isEmpty, !gates.isHeld else { return {} }
    let isMachineChanged = machineObserver.takeChange()
    let isDue = gates.nextDeadline.map { $0 <= now.uptime } ?? false
    guard isMachineChanged || isDue else { return {} }
    return publish([], gates.evaluate(all: isMachineChanged, machine: monitor.snapshot.status, [], at: now), at: now)
  }

  private mutating func publish(
    _ changes: [EngineTargetChange], _ gateChanges: [EngineGateChange], at now: ScheduleMoment
  ) -> @Sendable () -> Void {
    let changed = gates.takeChanged()
    let observer = changed.isEmpty ? nil : gateObserver
    // Before the events: a client that has received one gets the new document.
    observer?.willPublish()
    let publish = monitor.record(changes, gateChanges, at: now.time)
    guard let observer else { return publish }
    return {
      publish()
      observer.didPublish(changed)
    }
  }

  private func gateTarget(_ id: String) -> GateTable.Target? {
    state.entries[id].map {
      GateTable.Target(labels: $0.definition.labels, origin: $0.report.origin, state: $0.gateState)
    }
  }

  // MARK: - Changes of gates

  /// Adds or changes a gate.
  ///
  /// - Returns: the gate, whether it is new, and the effects that remain.
  /// - Throws: why it was not changed.
  mutating func putGate(
    _ definition: GateDefinition, _ origin: TargetOrigin, _ account: TargetAccount?,
    _ precondition: TargetPrecondition, at now: ScheduleMoment
  ) throws(GateChangeError) -> (report: GateReport, isNew: Bool, publish: @Sendable () -> Void) {
    let old = try changeableGate(definition.id, origin, precondition)
    if let old, old.definition == definition, old.origin == origin, let report = gates.report(of: definition.id) {
      return (report, false, {})
    }
    guard old != nil || gates.count < GateSpec.Bounds.gates else { throw .tooMany }
    // A change that adds no names is possible, also above the limit, to which those of the file may have led.
    let more = definition.targets.count - (old?.definition.targets.count ?? 0)
    guard more <= 0 || gates.nameCount + more <= GateSpec.Bounds.allTargets else { throw .tooManyNames }
    if let error = admitChange(by: account, at: now) { throw .refused(error) }
    let changes = changeGates([(definition, origin)], removing: [], [.configuration], at: now)
    guard let report = gates.report(of: definition.id) else { throw .refused(.missing) }
    return (report, old == nil, publish([], changes, at: now))
  }

  /// Removes a gate.
  ///
  /// - Returns: the effects that remain.
  /// - Throws: why it was not removed.
  mutating func removeGate(
    _ id: String, _ origin: TargetOrigin, _ account: TargetAccount?, _ precondition: TargetPrecondition,
    at now: ScheduleMoment
  ) throws(GateChangeError) -> @Sendable () -> Void {
    guard try changeableGate(id, origin, precondition) != nil else { throw .refused(.missing) }
    if let error = admitChange(by: account, at: now) { throw .refused(error) }
    return publish([], changeGates([], removing: [id], [.configuration], at: now), at: now)
  }

  private func changeableGate(
    _ id: String, _ origin: TargetOrigin, _ precondition: TargetPrecondition
  ) throws(GateChangeError) -> (definition: GateDefinition, origin: TargetOrigin, revision: UInt64)? {
    let old = gates.definition(of: id)
    guard precondition.isFulfilled(by: old?.revision) else { throw .refused(.precondition) }
    if let old, old.origin == .configuration, origin != .configuration { throw .refused(.configured) }
    return old
  }

  /// Replaces the gates of the configuration; the first time also restores those of clients.
  ///
  /// - Returns: the effects that remain.
  mutating func configureGates(_ definitions: [GateDefinition], at now: ScheduleMoment) -> @Sendable () -> Void {
    gates.release()
    let ids = Set(definitions.map(\.id))
    let restored = gates.restoredGates
    let clients = restored.filter { $0.origin != .configuration && !ids.contains($0.definition.id) }
    let removed = gates.ids.filter { gates.definition(of: $0)?.origin == .configuration && !ids.contains($0) }
    let changed = definitions.filter { definition in
      let old = gates.definition(of: definition.id)
      return old?.definition != definition || old?.origin != .configuration
    }
    var changes = changeGates(
      clients.map { ($0.definition, $0.origin) } + changed.map { ($0, .configuration) }, removing: removed,
      restored.isEmpty ? [.configuration] : [.restart], at: now)
    for gate in gates.restoredGates {
      let report = GateReport(
        definition: gate.definition, origin: gate.origin, revision: 0, changes: 0,
        status: GateStatus(state: gate.state, reason: nil, since: gate.since))
      changes.append(
        EngineGateChange(from: gate.state, report: report, causes: [.configuration, .restart], isRemoved: true))
    }
    gates.forgetRestored()
    return publish([], changes, at: now)
  }

  /// Applies new definitions, and decides about them.
  ///
  /// - Returns: a change for each gate that was added, changed or removed, unless it is as it was stored, and those of others
  ///   whose conditions have changed.
  private mutating func changeGates(
    _ definitions: [(GateDefinition, TargetOrigin)], removing removed: [String], _ causes: Set<Cause>,
    at now: ScheduleMoment
  ) -> [EngineGateChange] {
    var changes = removed.compactMap { id in
      gates.report(of: id).map {
        EngineGateChange(from: $0.status.state, report: $0, causes: causes, isRemoved: true)
      }
    }
    for id in removed { gates.remove(id) }
    // They have not been followed without gates.
    if gates.isEmpty, !definitions.isEmpty { for id in state.entries.keys { gates.update(id, gateTarget(id)) } }
    var before: [String: GateState] = [:]
    var stored: [String: RestoredGate] = [:]
    for (definition, origin) in definitions {
      let id = definition.id
      stored[id] = gates.restoredGate(id)
      before[id] = stored[id]?.state ?? gates.report(of: id)?.status.state
      gates.put(definition, origin, at: now)
    }
    let ids = Set(definitions.map(\.0.id))
    let decided = gates.evaluate(
      all: machineObserver.takeChange(), machine: monitor.snapshot.status, causes, at: now)
    changes += decided.filter { !ids.contains($0.report.definition.id) }
    for (definition, origin) in definitions {
      guard let report = gates.report(of: definition.id) else { continue }
      // A gate that belongs to another origin now is stored again.
      if let stored = stored[definition.id], stored.state == report.status.state, stored.origin == origin { continue }
      changes.append(EngineGateChange(from: before[definition.id], report: report, causes: causes))
    }
    return changes
  }
}

extension ScheduleEntry {
  /// The published state of the target, as a gate sees it.
  var gateState: GateMemberState {
    switch unpublishedFrom ?? report.status.state {
    case .up: isOutdated && report.status.lastResult == nil ? .starting : .up
    case .down: .down
    case .unreachable: .unreachable
    case .unknown: report.status.reason == .starting ? .starting : .unknown
    case .paused: .paused
    }
  }
}
