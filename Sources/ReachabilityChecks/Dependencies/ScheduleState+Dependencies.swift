internal import NetworkReachability
internal import ReachabilityModel

// How the failure of a target depends on others: a child's change to `down` is held until the results of its parents are known.
extension ScheduleState {
  /// Applies a result to a target.
  mutating func take(
    _ result: CheckResult, _ entry: ScheduleEntry, _ definition: TargetDefinition, at now: ScheduleMoment
  ) -> EngineTargetChange? {
    guard !definition.dependsOn.isEmpty else {
      return entry.change(at: now) { $0.take(result, definition, at: now.time) }
    }
    switch result.state {
    case .up: entry.dependency.failingSince = nil
    case .down: entry.dependency.failingSince = entry.dependency.failingSince ?? now.uptime
    case .unreachable, .unknown: break
    }
    var status = entry.report.status
    let wasWaiting = status.isWaitingForDependency
    status.take(result, definition, brokenBy: dependencies.rootOfFailure(of: entry, in: entries), at: now.time)
    if status.isWaitingForDependency, !wasWaiting { dependencies.ask(entry, entries, &ledger, at: now.uptime) }
    dependencies.decide(entry, &status, in: entries, at: now.time)
    return entry.change(at: now) { $0 = status }
  }

  /// Notes a result of a target for its children.
  mutating func noteParent(
    _ entry: ScheduleEntry, _ result: CheckResult, begun: Duration
  ) {
    guard result.state != .unknown else { return }
    let wasFailing = entry.isFailing
    (entry.isBad, entry.lastBegun) = (result.state != .up, begun)
    if wasFailing != entry.isFailing {
      dependencies.parentChanged(entry.definition.id, from: wasFailing ? .failing : .working, in: entries)
    }
  }

  /// The state of a target as its children see it.
  func parentState(_ id: String) -> TargetDependency.ParentState { dependencies.state(of: id, in: entries) }

  /// Applies a change of a target, other than a result, to the targets that depend on it.
  mutating func parentChanged(_ id: String, from old: TargetDependency.ParentState, at now: ScheduleMoment) {
    dependencies.parentChanged(id, from: old, in: entries)
    dependencies.continueQuestion(id, entries, ledger, at: now.uptime)
  }

  /// The checks of parents that start now, besides the queue and the limits of the scheduled ones.
  mutating func takeParentStarts(at now: ScheduleMoment, limit: Int) -> [CheckStart] {
    let (parents, timeouts) = dependencies.takeStarts(entries, at: now.uptime, limit: limit)
    statistics.dependencyTimeouts += UInt64(timeouts)
    statistics.dependencyChecks += UInt64(parents.count)
    return parents.map { startUnqueued($0, at: now) }
  }

  /// Decides about the next targets whose parents have changed.
  ///
  /// - Returns: the changes to publish, and the ids of all targets that were decided about.
  mutating func takeDecisions(at now: ScheduleMoment, limit: Int = Limits.changesPerLock) -> (
    changes: [EngineTargetChange], ids: [String]
  ) {
    var (changes, ids): ([EngineTargetChange], [String]) = ([], [])
    while ids.count < limit, let id = dependencies.takeTouched() {
      ids.append(id)
      guard let entry = entries[id] else { continue }
      var status = entry.report.status
      if status.isWaitingForDependency {
        dependencies.decide(entry, &status, in: entries, at: now.time)
      } else if status.reason == .dependencyDown {
        if let root = dependencies.root(of: id, in: entries) {
          status.setDependency(root)
        } else {
          planRecovery(entry, at: now)
        }
      }
      if let change = entry.change(at: now, { $0 = status }) { changes.append(change) }
    }
    return (changes, ids)
  }

  /// Plans a check of a target whose parents work again: immediately, or spread when there are many.
  private mutating func planRecovery(_ entry: ScheduleEntry, at now: ScheduleMoment) {
    // Earlier results of its parents do not explain the next failures.
    entry.dependency.failingSince = nil
    let spread = min(entry.definition.interval, Limits.recoverySpread)
    let last = entry.dependency.recoveryDue
    // A recovery during a spread joins it.
    if let last, last > now.uptime { return }
    let graph = dependencies.graph
    let isSpread = graph.parents(of: entry.definition.id).contains {
      graph.children(of: $0).count > Limits.recoveryBurst
    }
    let offset = isSpread ? planner.phase(entry.definition, of: spread) : .zero
    let due = max(now.uptime, last.map { $0 + spread } ?? now.uptime) + offset
    guard due < entry.due else { return }
    entry.dependency.recoveryDue = due
    // What a running check has sent may be lost, and its failure is no longer the target's.
    if case .running(let run, _, .scheduled) = entry.activity, entry.retries < Limits.retries {
      restart(entry, run, .scheduled)
      dependencies.continueQuestion(entry.definition.id, entries, ledger, at: now.uptime)
    }
    plan(entry, at: due)
  }
}
