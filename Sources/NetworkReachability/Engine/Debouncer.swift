/// The reported paths of targets with ``EngineTargetTable/EvaluationMode/address``, and the losses that wait for the settle time.
///
/// What ``DebouncedVerdict`` is for one verdict, as columns for a hundred thousand targets.
struct Debouncer {
  /// By target: the path last reported; stale while the class of the target is uniform.
  private(set) var reported: [PathID] = []
  /// By target: the uptime at which a pending loss is reported; zero when none is pending.
  private var deadlines: [Duration] = []
  /// The targets that may have a pending loss.
  private var pending: [EngineTargetID] = []

  var isIdle: Bool { pending.isEmpty }

  /// The uptime at which the first pending loss is evaluated again; nil when none is pending.
  var nextDeadline: Duration? { pending.lazy.map { deadlines[Int($0)] }.filter { $0 > .zero }.min() }

  /// The targets whose pending losses are due.
  func due(at uptime: Duration) -> [EngineTargetID] {
    pending.filter { deadlines[Int($0)] > .zero && deadlines[Int($0)] <= uptime }
  }

  /// Lengthens the columns to one element for each target identifier.
  mutating func grow(to count: Int) {
    while reported.count < count {
      reported.append(EnginePathInterner.none)
      deadlines.append(.zero)
    }
  }

  /// Resets the columns of a removed target.
  mutating func clear(_ target: EngineTargetID) {
    reported[Int(target)] = EnginePathInterner.none
    deadlines[Int(target)] = .zero
  }

  mutating func reset() {
    for index in reported.indices { (reported[index], deadlines[index]) = (EnginePathInterner.none, .zero) }
    pending = []
  }

  /// Records the path that was reported for a member of a uniform class.
  mutating func setReported(_ path: PathID, of target: EngineTargetID) { reported[Int(target)] = path }

  /// Replaces all identifiers after ``EnginePathInterner/compact(keeping:)``.
  mutating func mapPaths(_ transform: (PathID) -> PathID) { reported = reported.map(transform) }

  // MARK: - Reporting

  /// Reports a new path, or delays the report when it is a loss.
  mutating func update(
    _ target: EngineTargetID, to path: PathID, _ paths: EnginePathInterner, at uptime: Duration, settle: Duration,
    _ changes: inout EngineChangeList
  ) {
    let old = reported[Int(target)]
    guard old >= 0, old != path, paths.isLoss(old, path), settle > .zero else {
      return report(path, for: target, &changes)
    }
    guard deadlines[Int(target)] == .zero else { return }
    deadlines[Int(target)] = uptime + settle
    pending.append(target)
  }

  /// Reports a path for many targets without a delay, as after a change of the default route.
  mutating func reportAll(_ path: PathID, for targets: [EngineTargetID], _ changes: inout EngineChangeList) {
    // Moved out, so that the column is not copied at the first write.
    var column: [PathID] = []
    swap(&column, &reported)
    defer { swap(&column, &reported) }
    changes.paths.reserveCapacity(changes.paths.count + targets.count)
    for target in targets {
      let old = column[Int(target)]
      guard old != path else { continue }
      column[Int(target)] = path
      changes.paths.append(.init(target: target, from: old, to: path))
    }
  }

  private mutating func report(_ path: PathID, for target: EngineTargetID, _ changes: inout EngineChangeList) {
    deadlines[Int(target)] = .zero
    let old = reported[Int(target)]
    guard old != path else { return }
    reported[Int(target)] = path
    changes.paths.append(.init(target: target, from: old, to: path))
  }

  /// Reports the losses that are due.
  ///
  /// - Parameters:
  ///   - uptime: when the reading was made.
  ///   - changes: receives the reports.
  ///   - path: returns a target's path in this reading; nil when it was not read, and the loss stays pending.
  mutating func reportDue(at uptime: Duration, _ changes: inout EngineChangeList, path: (EngineTargetID) -> PathID?) {
    guard !pending.isEmpty else { return }
    let waiting = pending
    pending = []
    for target in waiting where deadlines[Int(target)] > .zero {
      if deadlines[Int(target)] <= uptime, let path = path(target) {
        report(path, for: target, &changes)
      } else {
        pending.append(target)
      }
    }
  }

  /// Reports `path` for every target that has a verdict.
  mutating func fail(with path: PathID, _ changes: inout EngineChangeList) {
    for index in reported.indices where reported[index] >= 0 {
      if reported[index] != path {
        changes.paths.append(.init(target: EngineTargetID(index), from: reported[index], to: path))
      }
      reported[index] = path
      deadlines[index] = .zero
    }
    pending = []
  }
}
