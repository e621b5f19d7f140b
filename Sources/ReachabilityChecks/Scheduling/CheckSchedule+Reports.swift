internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// The report of a target; nil when it is not registered.
  public func report(of id: String) -> TargetReport? { guarded.withLock { $0.state.entries[id]?.report } }

  /// The number of registered targets.
  public var count: Int { guarded.withLock { $0.state.entries.count } }

  /// The reports of the first targets that fulfil a condition, ordered by identifier, beginning after `id`.
  ///
  /// They are read in parts, and the condition is evaluated without the schedule's lock: a query of a client does not delay
  /// checks. A target that changes meanwhile is reported once, before or after the change.
  public func reports(
    after id: String? = nil, limit: Int = .max, where isIncluded: (TargetReport) -> Bool = { _ in true }
  ) -> [TargetReport] {
    var found: [TargetReport] = []
    var last = id
    repeat {
      let part = part(after: last, count: min(limit, Limits.reportsPerLock))
      for report in part.reports where found.count < limit && isIncluded(report) { found.append(report) }
      last = part.end
    } while last != nil && found.count < limit
    return found
  }

  /// The reports of the next targets after an identifier, and the last identifier if there may be more.
  private func part(after id: String?, count: Int) -> (reports: [TargetReport], end: String?) {
    guarded.withLock { guarded in
      let order = guarded.orderedIDs()
      let start = id.map { id in order.partitioningIndex { $0 > id } } ?? 0
      let ids = order[start...].prefix(count)
      return (ids.compactMap { guarded.state.entries[$0]?.report }, ids.count == count ? ids.last : nil)
    }
  }

  /// The reports of the targets of one origin, and a number that is read in the same critical section.
  ///
  /// - Parameters:
  ///   - origin: the origin.
  ///   - number: called under the lock, under which the changes of targets are numbered; it must not call back.
  /// - Returns: the reports, ordered by identifier, and the number.
  package func reports<Number: Sendable>(of origin: TargetOrigin, with number: @Sendable () -> Number) -> (
    reports: [TargetReport], number: Number
  ) {
    guarded.withLock { guarded in
      let found = guarded.orderedIDs().compactMap { guarded.state.entries[$0]?.report }.filter { $0.origin == origin }
      return (found, number())
    }
  }

  /// The statistics of the schedule.
  public var statistics: CheckStatistics { guarded.withLock(\.state.currentStatistics) }

  /// Calls a closure, on any thread, for each target of the fleet that was `up` and whose check fails for the first time.
  package func observeFirstFailures(_ observer: @escaping @Sendable (_ id: String) -> Void) {
    guarded.withLock { $0.observeFirstFailure = observer }
  }
}
