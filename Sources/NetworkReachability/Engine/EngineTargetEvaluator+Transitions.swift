internal import ReachabilityModel

// Transitions from one reported verdict to the next.
extension EngineTargetEvaluator {
  var reported: ReportedVerdicts {
    ReportedVerdicts(table: table, classes: classes, individuals: individuals, debouncer: debouncer, paths: paths)
  }

  /// The transitions that report changes.
  ///
  /// - Parameters:
  ///   - changes: what changed.
  ///   - machine: the transitions of this machine, which come first.
  ///   - sequence: the number of the machine's last transition.
  ///   - time: when the reading was made.
  ///   - causes: what the kernel reported.
  /// - Returns: those of the machine, then one for each change, in the order in which the targets were subscribed to.
  mutating func transitions(
    _ changes: EngineChangeList, after machine: [Transition], sequence: UInt64, time: Timestamp, causes: Set<Cause>
  ) -> EnginePublication {
    var publication = EnginePublication(transitions: machine)
    let changes = classes.expand(changes)
    guard changes.count > 0 else { return publication }
    let sorted = Cause.sorted(causes)
    let sortedWithName = Cause.sorted(causes.union([.dnsChanged]))
    publication.transitions.reserveCapacity(machine.count + changes.count)
    publication.targets.reserveCapacity(changes.count)
    for position in table.order(changes) {
      let id = changes.target(at: position)
      guard let target = table.target(id) else { continue }
      let (old, new): (HostVerdict?, HostVerdict)
      if position < changes.paths.count {
        let change = changes.paths[position]
        old = change.from < 0 ? nil : HostVerdict(of: target, path: paths[change.from])
        new = HostVerdict(of: target, path: paths[change.to])
      } else {
        let change = changes.verdicts[position - changes.paths.count]
        (old, new) = (change.from, change.to)
      }
      // Only names have resolutions.
      let known = individuals.contains(id) && table.takeNewResolution(id) ? sortedWithName : sorted
      publication.transitions.append(
        Transition(sequence: sequence, time: time, causes: old == nil ? [] : known, change: .host(from: old, to: new)))
      publication.targets.append(id)
    }
    return publication
  }

  // MARK: - Failures

  /// Sets the path of every target that has a verdict to `unknown`, because the kernel cannot be read.
  mutating func fail(with unknown: NetworkPath) -> EngineChangeList {
    var changes = EngineChangeList()
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
}
