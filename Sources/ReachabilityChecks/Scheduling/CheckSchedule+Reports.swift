internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// The report of a target; nil when it is not registered.
  public func report(of id: String) -> TargetReport? { guarded.withLock { $0.state.entries[id]?.report } }

  /// The number of registered targets.
  public var count: Int { guarded.withLock { $0.state.entries.count } }

  /// The reports of the first targets that fulfil a condition, ordered by identifier, beginning after `id`.
  public func reports(
    after id: String? = nil, limit: Int = .max, where isIncluded: (TargetReport) -> Bool = { _ in true }
  ) -> [TargetReport] {
    guarded.withLock { $0.reports(after: id, limit: limit, where: isIncluded) }
  }

  /// The statistics of the schedule.
  public var statistics: CheckStatistics { guarded.withLock(\.state.currentStatistics) }
}
