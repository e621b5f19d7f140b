internal import ReachabilityModel

/// The reported verdicts of the watched targets: a view of one state, without a copy of its columns.
struct ReportedVerdicts {
  let table: EngineTargetTable
  let classes: ForwardingClasses
  let individuals: IndividualWatches
  let debouncer: Debouncer
  let paths: EnginePathInterner

  /// The last published verdict for a watched target; nil when it is not watched or not evaluated yet.
  func verdict(of target: ReachabilityTarget) -> HostVerdict? {
    guard let id = table.id(of: target), let mode = table.mode(id) else { return nil }
    guard mode == .address else { return individuals[id]?.verdict?.published }
    let path = reportedPath(of: id, target)
    return path < 0 ? nil : HostVerdict(of: target, path: paths[path])
  }

  private func reportedPath(of id: EngineTargetID, _ target: ReachabilityTarget) -> PathID {
    guard case .address(let address) = target.remote else { return debouncer.reported[Int(id)] }
    let family = address.unmapped.family.index
    guard let position = classes.indexes[family].position(of: address.unmapped.number, id),
      let owner = classes.forwardingClass(family, at: position), owner.isUniform
    else { return debouncer.reported[Int(id)] }
    return owner.path
  }

  func evaluatedTargets(of outcome: EngineTargetEvaluator.Outcome) -> [ReachabilityTarget] {
    var ids = outcome.targets
    for id in outcome.classes {
      guard let prefix = classes.classes[Int(id)]?.prefix else { continue }
      classes.forEachMember(of: id, prefix) { index, position in ids.append(index.targets[position]) }
    }
    return ids.compactMap { table.target($0) }
  }
}
