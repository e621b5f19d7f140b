internal import ReachabilityModel

// Reported verdicts, and transitions from one to the next.
extension TargetEvaluator {
  /// The transitions that report changes.
  ///
  /// - Parameters:
  ///   - changes: what changed.
  ///   - sequence: the number of the machine's last transition.
  ///   - time: when the reading was made.
  ///   - causes: what the kernel reported.
  /// - Returns: one transition for each change, in the order in which the targets were subscribed to.
  mutating func transitions(
    _ changes: ChangeList, sequence: UInt64, time: Timestamp, causes: Set<Cause>
  ) -> [Transition] {
    let changes = expandClasses(changes)
    guard changes.count > 0 else { return [] }
    let sorted = Cause.sorted(causes)
    let sortedWithName = Cause.sorted(causes.union([.dnsChanged]))
    var transitions: [Transition] = []
    transitions.reserveCapacity(changes.count)
    for position in table.order(changes) {
      let id = changes.target(at: position)
      guard let target = table.target(id) else { continue }
      let (old, new): (HostVerdict?, HostVerdict)
      if position < changes.paths.count {
        let change = changes.paths[position]
        old = change.from < 0 ? nil : verdict(of: target, path: change.from)
        new = verdict(of: target, path: change.to)
      } else {
        let change = changes.verdicts[position - changes.paths.count]
        (old, new) = (change.from, change.to)
      }
      let known = table.takeNewResolution(id) ? sortedWithName : sorted
      transitions.append(
        Transition(sequence: sequence, time: time, causes: old == nil ? [] : known, change: .host(from: old, to: new)))
    }
    return transitions
  }

  /// Replaces the changes of classes by those of their members.
  private func expandClasses(_ changes: ChangeList) -> ChangeList {
    var changes = changes
    for change in changes.classes {
      guard let prefix = classes.classes[Int(change.classID)]?.prefix else { continue }
      classes.forEachMember(of: change.classID, prefix) { index, position in
        changes.paths.append(.init(target: index.targets[position], from: change.from, to: change.to))
      }
    }
    changes.classes = []
    return changes
  }

  /// The targets that a reading evaluated.
  func evaluatedTargets(of outcome: Outcome) -> [ReachabilityTarget] {
    var ids = outcome.targets
    for id in outcome.classes {
      guard let prefix = classes.classes[Int(id)]?.prefix else { continue }
      classes.forEachMember(of: id, prefix) { index, position in ids.append(index.targets[position]) }
    }
    return ids.compactMap { table.target($0) }
  }

  // MARK: - Failures

  /// Sets the path of every target that has a verdict to `unknown`, because the kernel cannot be read.
  mutating func fail(with unknown: NetworkPath) -> ChangeList {
    var changes = ChangeList()
    classes.endUniformity(&debouncer)
    debouncer.fail(with: paths.id(of: unknown), &changes)
    individuals.fail(with: unknown, &changes)
    forgetPaths()
    return changes
  }

  /// Removes all verdicts and what was read; the targets stay watched.
  mutating func reset() {
    debouncer.reset()
    individuals.reset()
    classes.prefixes = nil
    forgetPaths()
  }

  /// Has the next reading evaluate everything, and report also what has the same result.
  private mutating func forgetPaths() {
    classes.forgetPaths()
    individuals.markAllAffected()
  }

  // MARK: - Verdicts

  /// The last published verdict for a watched target; nil when it is not watched or not evaluated yet.
  func verdict(of target: ReachabilityTarget) -> HostVerdict? {
    guard let id = table.id(of: target), let mode = table.mode(id) else { return nil }
    guard mode == .address else { return individuals[id]?.verdict?.published }
    let path = reportedPath(of: id, target)
    return path < 0 ? nil : verdict(of: target, path: path)
  }

  private func reportedPath(of id: TargetID, _ target: ReachabilityTarget) -> PathID {
    guard case .address(let address) = target.remote else { return debouncer.reported[Int(id)] }
    let family = address.unmapped.family.index
    guard let position = classes.indexes[family].position(of: address.unmapped.number, id),
      let owner = classes.forwardingClass(family, at: position), owner.isUniform
    else { return debouncer.reported[Int(id)] }
    return owner.path
  }

  private func verdict(of target: ReachabilityTarget, path id: PathID) -> HostVerdict {
    let path = paths[id]
    guard case .address(let address) = target.remote else { return HostVerdict(target: target, path: path) }
    return HostVerdict(target: target, path: path, addresses: [.init(address: address, path: path)])
  }
}
