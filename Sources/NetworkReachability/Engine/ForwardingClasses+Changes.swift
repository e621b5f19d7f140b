internal import ReachabilityModel

// From changed routes to the classes that they affect.
extension ForwardingClasses {
  /// Whether the coming survey must list the prefixes of all routes: there is no list or, after lost events, it may be
  /// incomplete.
  func needsPrefixes(isAfterLoss: Bool) -> Bool {
    indexes.contains { !$0.isEmpty } && (isAfterLoss || prefixes == nil)
  }

  /// Applies the changes of a survey.
  ///
  /// - Returns: the targets with lookups of their own in changed prefixes.
  mutating func apply(_ survey: KernelSurvey, _ debouncer: inout Debouncer) -> [EngineTargetID] {
    let changes = survey.changes
    var individuals: [EngineTargetID] = []
    // An incomplete list must not classify the addresses that are added next.
    if survey.isAfterLoss, changes.allBlocks == nil { prefixes = nil }
    separate(byTransport: survey.tables.hasTransportRules, &debouncer)
    for change in changes.blocks {
      let isNew = prefixes?.insert(change.prefix)
      if isNew == false, isFasterByClass(change) {
        markClasses(in: change)
      } else {
        markMembers(of: change, isNew: isNew ?? false, &individuals, &debouncer)
      }
    }
    if let all = changes.allBlocks { replacePrefixes(with: all, isAudit: survey.isAudit, &debouncer) }
    if prefixes != nil {
      for family in indexes.indices { classify(family, onlyNew: true, &debouncer) }
    }
    return individuals
  }

  /// Marks the classes whose answers follow from some lookups.
  ///
  /// - Returns: the targets with lookups of their own to the same destinations.
  mutating func markAffected(by queries: Set<RouteQuery>, _ debouncer: inout Debouncer) -> [EngineTargetID] {
    guard !queries.isEmpty else { return [] }
    var individuals: [EngineTargetID] = []
    for query in queries {
      let change = RouteChanges.Block(query.destination.hostPrefix, table: 0)
      markMembers(of: change, isNew: false, &individuals, &debouncer)
    }
    // The address that was looked up may no longer be watched; its answer still applies to the other members.
    for id in classes.indices {
      if let query = classes[id]?.query, queries.contains(query) { markAffected(ForwardingClassID(id)) }
    }
    return individuals
  }

  mutating func markAffected(_ addresses: [IPAddress], of target: EngineTargetID) {
    for address in addresses.map(\.unmapped) {
      let index = indexes[address.family.index]
      guard let position = index.position(of: address.number, target), index.classes[position] >= 0 else { continue }
      markAffected(index.classes[position])
    }
  }

  /// Separates the members of each class by protocol and port, or joins them, after the policy rules have changed.
  private mutating func separate(byTransport isSeparate: Bool, _ debouncer: inout Debouncer) {
    guard hasTransportRules != isSeparate else { return }
    hasTransportRules = isSeparate
    for family in indexes.indices { classify(family, onlyNew: false, &debouncer) }
  }

  private mutating func replacePrefixes(
    with listed: Set<RouteChanges.Block>, isAudit: Bool, _ debouncer: inout Debouncer
  ) {
    let current = RouteBlocks(listed.lazy.map(\.prefix))
    let missing = prefixes?.countMissing(of: current) ?? 0
    if isAudit { missingPrefixes = missing }
    // A prefix without a route costs an extra lookup now and then, so such prefixes are dropped only when there are many.
    if let prefixes, missing == 0, prefixes.count <= 2 * current.count + Limits.idlePrefixes { return }
    prefixes = current
    for family in indexes.indices { classify(family, onlyNew: false, &debouncer) }
  }

  /// Whether marking by class is faster than by member: there are fewer classes than addresses in the prefix, and every
  /// address has a class.
  private func isFasterByClass(_ change: RouteChanges.Block) -> Bool {
    let index = indexes[change.prefix.address.family.index]
    return !index.hasIndividual && index.range(of: change.prefix).count > classes.count
  }

  private mutating func markClasses(in change: RouteChanges.Block) {
    for id in classes.indices {
      guard let entry = classes[id], entry.prefix.length >= change.prefix.length,
        change.prefix.contains(entry.prefix.address), entry.isAffected(by: change)
      else { continue }
      markAffected(ForwardingClassID(id))
    }
  }

  /// Marks the classes of the addresses in a changed prefix, and moves the addresses to its class when it is new.
  private mutating func markMembers(
    of change: RouteChanges.Block, isNew: Bool, _ individuals: inout [EngineTargetID], _ debouncer: inout Debouncer
  ) {
    let family = change.prefix.address.family.index
    let range = indexes[family].range(of: change.prefix)
    guard isNew else {
      return markMembers(of: change, in: range, indexes[family].classes, indexes[family].targets, &individuals)
    }
    for position in range {
      let id = indexes[family].classes[position]
      if id >= 0, let entry = classes[Int(id)], entry.prefix.length < change.prefix.length {
        move(family, position, to: change.prefix, &debouncer)
      } else {
        let (ids, targets) = (indexes[family].classes, indexes[family].targets)
        markMembers(of: change, in: position..<position + 1, ids, targets, &individuals)
      }
    }
  }

  /// Marks the classes at some positions; reads the columns directly, because the range may have a hundred thousand.
  private mutating func markMembers(
    of change: RouteChanges.Block, in range: Range<Int>, _ ids: [ForwardingClassID], _ targets: [EngineTargetID],
    _ individuals: inout [EngineTargetID]
  ) {
    var last = EngineTargetAddressIndex.unclassified
    for position in range {
      let id = ids[position]
      // Neighbours usually have the same class.
      if id == last, id != EngineTargetAddressIndex.individual { continue }
      last = id
      if id == EngineTargetAddressIndex.individual {
        if targets[position] >= 0 { individuals.append(targets[position]) }
      } else if id >= 0, classes[Int(id)]?.isAffected(by: change) == true {
        markAffected(id)
      }
    }
  }

  /// Replaces the changes of whole classes by those of their members.
  func expand(_ changes: EngineChangeList) -> EngineChangeList {
    var changes = changes
    for change in changes.classes {
      guard let prefix = classes[Int(change.classID)]?.prefix else { continue }
      forEachMember(of: change.classID, prefix) { index, position in
        changes.paths.append(.init(target: index.targets[position], from: change.from, to: change.to))
      }
    }
    changes.classes = []
    return changes
  }
}
