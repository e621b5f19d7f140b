internal import ReachabilityModel

/// A target whose verdict does not follow from one forwarding class: a name, or a target with lookups of its own.
struct IndividualWatch {
  var verdict: DebouncedVerdict<HostVerdict>?
  /// The lookups that decide the verdict; nil for a resolved name, and before they are known.
  var queries: [RouteQuery]?
  /// The next reading evaluates the target again.
  var isAffected = false
}

/// All ``IndividualWatch``es, with those that the next reading evaluates and those whose loss is pending.
struct IndividualWatches {
  private var watches: [EngineTargetID: IndividualWatch] = [:]
  /// The targets to evaluate, perhaps several times or no longer watched.
  private(set) var affected: [EngineTargetID] = []
  private var pending: Set<EngineTargetID> = []

  var isEmpty: Bool { watches.isEmpty }
  var isIdle: Bool { pending.isEmpty }

  /// The uptime at which the first pending loss is evaluated again; nil when none is pending.
  var nextDeadline: Duration? { pending.lazy.compactMap { watches[$0]?.verdict?.holdUntil }.min() }

  subscript(target: EngineTargetID) -> IndividualWatch? { watches[target] }

  var all: [EngineTargetID: IndividualWatch] { watches }

  func contains(_ target: EngineTargetID) -> Bool { !watches.isEmpty && watches.index(forKey: target) != nil }

  // MARK: - Membership

  mutating func add(_ target: EngineTargetID) { watches[target] = IndividualWatch() }

  mutating func remove(_ target: EngineTargetID) {
    watches[target] = nil
    pending.remove(target)
  }

  mutating func setQueries(_ queries: [RouteQuery], of target: EngineTargetID) { watches[target]?.queries = queries }

  // MARK: - Evaluation

  /// Schedules a target for evaluation by the next reading.
  mutating func markAffected(_ target: EngineTargetID) {
    guard watches[target]?.isAffected == false else { return }
    watches[target]?.isAffected = true
    affected.append(target)
  }

  /// Schedules all targets, or those that fulfil a condition.
  mutating func markAllAffected(where isIncluded: (EngineTargetID) -> Bool = { _ in true }) {
    for target in Array(watches.keys) where isIncluded(target) { markAffected(target) }
  }

  /// Removes and returns the scheduled targets; those that cannot be evaluated are returned by ``postpone(_:)``.
  mutating func takeAffected() -> [EngineTargetID] {
    defer { affected = [] }
    return affected
  }

  /// Leaves a target scheduled for the next reading.
  mutating func postpone(_ target: EngineTargetID) { affected.append(target) }

  mutating func clearAffected(_ target: EngineTargetID) { watches[target]?.isAffected = false }

  /// Removes all scheduled targets.
  mutating func forgetAffected() { affected = [] }

  // MARK: - Verdicts

  /// The targets whose pending losses are due.
  func due(at uptime: Duration) -> [EngineTargetID] {
    pending.filter { watches[$0]?.verdict?.holdUntil.map { $0 <= uptime } ?? false }
  }

  /// Keeps a verdict that was published before the target was added again.
  mutating func setVerdict(_ verdict: DebouncedVerdict<HostVerdict>?, of target: EngineTargetID) {
    watches[target]?.verdict = verdict
  }

  /// Publishes a verdict, or delays it when it is a loss.
  mutating func update(
    _ target: EngineTargetID, to verdict: HostVerdict, at uptime: Duration, settle: Duration,
    _ changes: inout EngineChangeList
  ) {
    let old = watches[target]?.verdict?.published
    if watches[target]?.verdict == nil {
      watches[target]?.verdict = DebouncedVerdict(verdict)
    } else {
      watches[target]?.verdict?.update(to: verdict, at: uptime, settle: settle) {
        NetworkPath.isLoss($0.path, $1.path)
      }
    }
    if watches[target]?.verdict?.holdUntil == nil { pending.remove(target) } else { pending.insert(target) }
    guard let new = watches[target]?.verdict?.published, new != old else { return }
    changes.verdicts.append(.init(target: target, from: old, to: new))
  }

  /// Replaces every published verdict by one with an unknown path.
  mutating func fail(with unknown: NetworkPath, _ changes: inout EngineChangeList) {
    for (id, watch) in watches {
      guard let old = watch.verdict?.published else { continue }
      let new = HostVerdict(target: old.target, path: unknown, phase: old.phase)
      watches[id]?.verdict?.replace(with: new)
      if new != old { changes.verdicts.append(.init(target: id, from: old, to: new)) }
    }
    pending = []
  }

  /// Removes all verdicts; the targets stay.
  mutating func reset() {
    for target in watches.keys { watches[target]?.verdict = nil }
    pending = []
  }
}
