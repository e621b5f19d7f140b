internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// A target as it is; nil when there is none.
  public func report(of id: String) -> TargetReport? { guarded.withLock { $0.state.entries[id]?.report } }

  /// How many targets are registered.
  public var count: Int { guarded.withLock { $0.state.entries.count } }

  /// The first targets in the order of their ids that fulfil a condition, from the one after `id` on.
  public func reports(
    after id: String? = nil, limit: Int = .max, where isWanted: (TargetReport) -> Bool = { _ in true }
  ) -> [TargetReport] {
    guarded.withLock { guarded in
      let order = guarded.order ?? guarded.state.entries.keys.sorted()
      guarded.order = order
      var found: [TargetReport] = []
      var place = id.map { id in order.partitioningIndex { $0 > id } } ?? 0
      while place < order.count, found.count < limit {
        if let report = guarded.state.entries[order[place]]?.report, isWanted(report) { found.append(report) }
        place += 1
      }
      return found
    }
  }

  /// What the schedule has done and does.
  public var figures: CheckFigures { guarded.withLock(\.state.currentFigures) }
}

extension [String] {
  /// The first index whose element fulfils a condition that all after it fulfil, too.
  fileprivate func partitioningIndex(_ isBeyond: (String) -> Bool) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = isBeyond(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}
