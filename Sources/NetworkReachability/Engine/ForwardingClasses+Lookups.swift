internal import ReachabilityModel

// The lookups that evaluate the affected classes.
extension ForwardingClasses {
  /// The lookups of the affected classes; classes without members are removed.
  mutating func lookups() -> [RouteQuery] {
    survey += 1
    var queries: [RouteQuery] = []
    for id in takeAffected() {
      guard let entry = classes[Int(id)], entry.isAffected, entry.survey != survey else { continue }
      guard let member = representative(of: id, entry) else {
        remove(id)
        continue
      }
      let query = entry.query(for: member)
      classes[Int(id)]?.query = query
      classes[Int(id)]?.survey = survey
      postpone(id)
      queries.append(query)
      guard entry.isPerMember else { continue }
      forEachMember(of: id, entry.prefix) { index, position in
        let address = index.address(at: position)
        if address != member { queries.append(entry.query(for: address)) }
      }
    }
    return queries
  }

  /// A member to look up: that of the last lookup, while it is a member.
  private func representative(of id: ForwardingClassID, _ entry: ForwardingClass) -> IPAddress? {
    let index = indexes[entry.prefix.address.family.index]
    func first(in prefix: IPPrefix) -> IPAddress? {
      let range = index.range(of: prefix)
      let position = range.first { index.classes[$0] == id && index.targets[$0] != EngineTargetAddressIndex.removed }
      return position.map(index.address)
    }
    return entry.query.flatMap { first(in: $0.destination.hostPrefix) } ?? first(in: entry.prefix)
  }

  /// Lookups of some members, to compare an audit's answers with those of their classes.
  mutating func auditSamples() -> [RouteQuery] {
    let first = indexes[0].addresses.count
    let count = first + indexes[1].addresses.count
    guard count > 0 else { return [] }
    let step = max(1, count / Limits.auditSamples)
    let positions = (0..<min(count, Limits.auditSamples)).map { (auditPosition + $0 * step) % count }
    // The next audit takes other samples.
    auditPosition = (auditPosition + 1) % max(step, 1)
    return positions.compactMap { position in
      let index = indexes[position < first ? 0 : 1]
      let place = position < first ? position : position - first
      return forwardingClass(index.family.index, at: place)?.query(for: index.address(at: place))
    }
  }

  /// Counts the addresses whose paths differ from an audit's answers.
  func differences(in audit: KernelReading, _ paths: EnginePathInterner) -> Int {
    var found = 0
    for (family, index) in indexes.enumerated() {
      var checked: Set<RouteQuery> = []
      for position in index.addresses.indices
      where index.targets[position] != EngineTargetAddressIndex.removed && index.classes[position] >= 0 {
        let held = path(family, at: position)
        guard let query = forwardingClass(family, at: position)?.query(for: index.address(at: position)), held >= 0,
          !checked.contains(query), let answer = audit.answers[query]
        else { continue }
        checked.insert(query)
        if StatusRules.evaluate(answer, to: query, in: audit.tables) != paths[held].value { found += 1 }
      }
    }
    return found
  }

  /// The path of a target's address in this reading; nil when it was not read.
  func currentPath(of id: EngineTargetID, _ address: IPAddress) -> PathID? {
    let family = address.unmapped.family.index
    guard let position = indexes[family].position(of: address.unmapped.number, id),
      forwardingClass(family, at: position)?.isAffected == false
    else { return nil }
    let path = path(family, at: position)
    return path < 0 ? nil : path
  }
}

extension IPAddress {
  /// The prefix that contains this address only.
  var hostPrefix: IPPrefix { IPPrefix(self, length: family.bitCount) }
}
