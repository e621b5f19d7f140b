internal import ReachabilityModel

// What is held, against what the kernel says without having been made to by an event.
extension WatchBook {
  /// Some single targets, to be asked about by themselves and compared with the answers of their classes.
  mutating func auditSamples() -> [RouteQuery] {
    let first = indexes[0].addresses.count
    let count = first + indexes[1].addresses.count
    guard count > 0 else { return [] }
    let step = max(1, count / Limits.auditSamples)
    let positions = (0..<min(count, Limits.auditSamples)).map { (auditPosition + $0 * step) % count }
    // So that the next audits take others.
    auditPosition = (auditPosition + 1) % max(step, 1)
    return positions.compactMap { position in
      let index = indexes[position < first ? 0 : 1]
      let place = position < first ? position : position - first
      return index.classes[place] >= 0 ? RouteQuery(index.address(at: place)) : nil
    }
  }

  /// Counts what an audit's answers say otherwise than the paths that are held: of classes, of members that were asked by
  /// themselves, and blocks that were not known.
  func differences(in audit: KernelReading) -> Int {
    guard held.isEmpty, heldWholes.isEmpty else { return missingBlocks }
    var found = missingBlocks
    for (family, index) in indexes.enumerated() {
      var asked: [UInt128: NetworkPath] = [:]
      for position in index.addresses.indices
      where index.watches[position] != TargetIndex.nobody && index.classes[position] >= 0
        && path(family, at: position) >= 0
      {
        let query = RouteQuery(index.address(at: position))
        guard asked[index.addresses[position]] == nil, let answer = audit.answers[query] else { continue }
        let path = StatusRules.judge(answer, to: query, in: audit.tables)
        asked[index.addresses[position]] = path
        if path != paths[self.path(family, at: position)].value { found += 1 }
      }
    }
    for (number, whole) in wholes where watches[Int(number)]?.form == .own {
      guard let watch = watches[Int(number)], let queries = whole.queries, let told = whole.verdict?.published,
        queries.allSatisfy({ audit.answers[$0] != nil })
      else { continue }
      let verdict = TargetRules.verdict(
        for: watch.target, resolution: watch.resolution, permitting: requirement, answers: audit.answers,
        in: audit.tables)
      if !watch.hasNewAnswer, verdict != told { found += 1 }
    }
    return found
  }
}
