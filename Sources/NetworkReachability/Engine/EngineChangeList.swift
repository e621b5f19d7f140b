internal import ReachabilityModel

/// The changes to report after a reading, unordered; at most one for each target.
struct EngineChangeList {
  /// All members of a uniform class have a new path.
  struct ClassChange {
    let classID: ForwardingClassID
    let from: PathID
    let to: PathID
  }

  /// A target with ``EngineTargetTable/EvaluationMode/address`` has a new path; identifiers only, because there may be a hundred
  /// thousand changes.
  struct PathChange {
    let target: EngineTargetID
    /// ``EnginePathInterner/none`` before the first verdict.
    let from: PathID
    let to: PathID
  }

  /// Any other target has a new verdict.
  struct VerdictChange {
    let target: EngineTargetID
    let from: HostVerdict?
    let to: HostVerdict
  }

  /// Changes of whole classes, to be expanded into ``paths`` of their members before transitions are made.
  var classes: [ClassChange] = []
  var paths: [PathChange] = []
  var verdicts: [VerdictChange] = []

  /// The number of changes, without those in ``classes``.
  var count: Int { paths.count + verdicts.count }

  /// The target of the change at a position; path changes come before verdict changes.
  func target(at position: Int) -> EngineTargetID {
    position < paths.count ? paths[position].target : verdicts[position - paths.count].target
  }
}
