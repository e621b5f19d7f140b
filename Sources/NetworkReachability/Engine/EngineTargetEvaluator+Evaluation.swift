internal import ReachabilityModel

// From a reading's answers to changes of verdicts.
extension EngineTargetEvaluator {
  /// The effect of a reading on the watched table.
  struct Outcome {
    /// What must be reported.
    var changes = EngineChangeList()
    /// The classes that were evaluated, with or without a change.
    var classes: [ForwardingClassID] = []
    /// The other targets that were evaluated.
    var targets: [EngineTargetID] = []

    var isEmpty: Bool { classes.isEmpty && targets.isEmpty }
  }

  private struct Evaluation {
    let reading: KernelReading
    let settle: Duration
    let hasOneIPv6Source: Bool
    var outcome = Outcome()
    /// Names of which an address has a new path.
    var names: Set<EngineTargetID> = []

    init(reading: KernelReading, settle: Duration) {
      self.reading = reading
      self.settle = settle
      hasOneIPv6Source = reading.tables.hasOneIPv6Source
    }
  }

  /// Evaluates the targets that the last survey affected.
  ///
  /// - Parameters:
  ///   - reading: the answers to its lookups.
  ///   - settle: the delay of a loss.
  /// - Returns: what changed, and which targets were evaluated.
  mutating func evaluate(_ reading: KernelReading, settle: Duration) -> Outcome {
    limitPaths()
    needsAnotherReading = false
    var evaluation = Evaluation(reading: reading, settle: settle)
    for id in classes.takeAffected() { evaluate(class: id, &evaluation) }
    evaluateIndividuals(&evaluation)
    let (entries, forwarding) = (table, classes)
    debouncer.reportDue(at: reading.uptime, &evaluation.outcome.changes) {
      guard case .address(let address)? = entries.target($0)?.remote else { return nil }
      return forwarding.currentPath(of: $0, address)
    }
    return evaluation.outcome
  }

  // MARK: - Classes

  private mutating func evaluate(class id: ForwardingClassID, _ evaluation: inout Evaluation) {
    guard let entry = classes.classes[Int(id)], entry.isAffected else { return }
    guard let query = entry.query, let answer = evaluation.reading.answers[query] else {
      return classes.postpone(id)
    }
    var route: Route?
    if case .route(let found) = answer { route = found }
    let isPerMember = answer.dependsOnDestination(
      query.destination.family, hasOneIPv6Source: evaluation.hasOneIPv6Source)
    let path = paths.id(of: StatusRules.evaluate(answer, to: query, in: evaluation.reading.tables))
    classes.classes[Int(id)]?.match = route.map { RouteChanges.Block($0.prefix, table: $0.table) }
    classes.classes[Int(id)]?.isPerMember = isPerMember
    classes.classes[Int(id)]?.isAffected = false
    let family = query.destination.family.index
    if isPerMember {
      classes.endUniformity(id, &debouncer)
      classes.classes[Int(id)]?.path = EnginePathInterner.none
      guard evaluateMembers(of: id, entry, family, &evaluation) else {
        classes.markAffected(id)
        needsAnotherReading = true
        return
      }
    } else {
      setPath(path, ofClass: id, entry.prefix, family, &evaluation)
      classes.classes[Int(id)]?.path = path
    }
    classes.classes[Int(id)]?.hasNewMembers = false
  }

  private mutating func setPath(
    _ path: PathID, ofClass id: ForwardingClassID, _ prefix: IPPrefix, _ family: Int, _ evaluation: inout Evaluation
  ) {
    evaluation.outcome.classes.append(id)
    guard let entry = classes.classes[Int(id)], entry.path != path || entry.hasNewMembers else { return }
    let canReportAll = canReportAll(path, settle: evaluation.settle)
    if entry.isUniform, canReportAll {
      return evaluation.outcome.changes.classes.append(.init(classID: id, from: entry.path, to: path))
    }
    classes.endUniformity(id, &debouncer)
    let range = classes.indexes[family].range(of: prefix)
    let changed = classes.indexes[family].setPath(path, ofClass: id, in: range)
    if canReportAll {
      classes.classes[Int(id)]?.isUniform = true
      return debouncer.reportAll(path, for: changed, &evaluation.outcome.changes)
    }
    for target in changed { setPath(path, of: target, &evaluation) }
  }

  /// Evaluates each member of a class by a lookup of its own.
  ///
  /// - Returns: false when a lookup is missing.
  private mutating func evaluateMembers(
    of id: ForwardingClassID, _ entry: ForwardingClass, _ family: Int, _ evaluation: inout Evaluation
  ) -> Bool {
    var isComplete = true
    for position in classes.indexes[family].range(of: entry.prefix)
    where classes.indexes[family].classes[position] == id {
      let target = classes.indexes[family].targets[position]
      guard target != EngineTargetAddressIndex.removed else { continue }
      let query = entry.query(for: classes.indexes[family].address(at: position))
      guard let answer = evaluation.reading.answers[query] else {
        isComplete = false
        continue
      }
      evaluation.outcome.targets.append(target)
      let path = paths.id(of: StatusRules.evaluate(answer, to: query, in: evaluation.reading.tables))
      guard classes.indexes[family].paths[position] != path else { continue }
      classes.indexes[family].paths[position] = path
      setPath(path, of: target, &evaluation)
    }
    return isComplete
  }

  /// Applies the new path of one address of a target.
  private mutating func setPath(_ path: PathID, of target: EngineTargetID, _ evaluation: inout Evaluation) {
    // Every target that is not evaluated by address has an individual watch; reading its entry would copy it.
    if individuals.contains(target) {
      evaluation.names.insert(target)
    } else {
      debouncer.update(
        target, to: path, paths, at: evaluation.reading.uptime, settle: evaluation.settle, &evaluation.outcome.changes)
    }
  }

  /// Whether a path can be reported for all members of a class together, without a delay for any of them.
  private func canReportAll(_ path: PathID, settle: Duration) -> Bool {
    individuals.isEmpty && debouncer.isIdle && (settle == .zero || paths.isReachable(path))
  }

  // MARK: - Individual targets

  private mutating func evaluateIndividuals(_ evaluation: inout Evaluation) {
    for id in individuals.takeAffected() {
      guard let entry = table[id], let watch = individuals[id], watch.isAffected else { continue }
      if entry.mode == .name {
        evaluation.names.insert(id)
      } else if let queries = watch.queries, queries.allSatisfy({ evaluation.reading.answers[$0] != nil }) {
        individuals.clearAffected(id)
        evaluation.outcome.targets.append(id)
        let verdict = TargetRules.verdict(
          for: entry.target, resolution: entry.resolution, permitting: requirement,
          answers: evaluation.reading.answers, in: evaluation.reading.tables)
        update(id, to: verdict, &evaluation)
      } else {
        individuals.postpone(id)
      }
    }
    for id in evaluation.names {
      individuals.clearAffected(id)
      if let verdict = verdictOfName(id) { update(id, to: verdict, &evaluation) }
    }
  }

  private mutating func update(_ id: EngineTargetID, to verdict: HostVerdict, _ evaluation: inout Evaluation) {
    individuals.update(
      id, to: verdict, at: evaluation.reading.uptime, settle: evaluation.settle, &evaluation.outcome.changes)
  }

  /// The verdict for a name from the paths of its addresses; nil when one of them is not known yet.
  private func verdictOfName(_ id: EngineTargetID) -> HostVerdict? {
    guard let entry = table[id] else { return nil }
    let addresses = routedAddresses(of: entry) ?? []
    var verdicts: [HostVerdict.AddressVerdict] = []
    for address in addresses {
      let family = address.unmapped.family.index
      guard let position = classes.indexes[family].position(of: address.unmapped.number, id) else { return nil }
      let path = classes.path(family, at: position)
      guard path >= 0 else { return nil }
      verdicts.append(.init(address: address, path: paths[path]))
    }
    var verdict = HostVerdict(target: entry.target, best: verdicts)
    verdict.addressesOmitted = entry.resolution.omitted
    return verdict
  }
}
