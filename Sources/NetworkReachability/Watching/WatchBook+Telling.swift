internal import ReachabilityModel

// What becomes of verdicts without a reading, and the audit.
extension WatchBook {
  /// When the first loss that waits must be judged again; nil when none waits.
  var nextHold: Duration? {
    let singles = held.lazy.map { holds[Int($0)] }.filter { $0 > .zero }.min()
    let others = heldWholes.lazy.compactMap { wholes[$0]?.verdict?.holdUntil }.min()
    return [singles, others].compactMap(\.self).min()
  }

  /// The transitions that tell of changes.
  ///
  /// - Parameters:
  ///   - changes: what changed.
  ///   - sequence: the number of the machine's last transition.
  ///   - time: when the reading was made.
  ///   - causes: what the kernel said.
  mutating func transitions(
    _ changes: [Change], sequence: UInt64, time: Timestamp, causes: Set<Cause>
  ) -> [Transition] {
    let sorted = Cause.sorted(causes)
    let sortedWithName = Cause.sorted(causes.union([.dnsChanged]))
    return changes.compactMap { change in
      guard let watch = watches[Int(change.watch)] else { return nil }
      let (old, new): (HostVerdict?, HostVerdict)
      switch change {
      case .path(_, let from, let to):
        (old, new) = (from < 0 ? nil : verdict(of: watch, path: from), verdict(of: watch, path: to))
      case .verdict(_, let from, let to): (old, new) = (from, to)
      }
      let known = watch.hasNewAnswer ? sortedWithName : sorted
      if watch.hasNewAnswer { watches[Int(change.watch)]?.hasNewAnswer = false }
      return Transition(
        sequence: sequence, time: time, causes: old == nil ? [] : known, change: .host(from: old, to: new))
    }
  }

  /// The targets of watches.
  func targets(_ numbers: [Int32]) -> [Target] {
    var targets: [Target] = []
    targets.reserveCapacity(numbers.count)
    for number in numbers {
      if let target = watches[Int(number)]?.target { targets.append(target) }
    }
    return targets
  }

  /// Nothing is known any more; what was told before is told to be unknown.
  mutating func fail(with unknown: Path) -> [Change] {
    var changes: [Change] = []
    let path = paths.number(of: unknown)
    for number in told.indices where told[number] >= 0 {
      if told[number] != path { changes.append(.path(watch: Int32(number), from: told[number], to: path)) }
      told[number] = path
      holds[number] = .zero
    }
    for (number, whole) in wholes {
      guard let old = whole.verdict?.published, let target = watches[Int(number)]?.target else { continue }
      let new = HostVerdict(target: target, path: unknown, phase: old.phase)
      wholes[number]?.verdict?.replace(with: new)
      if new != old { changes.append(.verdict(watch: number, from: old, to: new)) }
    }
    held = []
    heldWholes = []
    forgetPaths()
    return changes.sorted { (watches[Int($0.watch)]?.order ?? 0) < (watches[Int($1.watch)]?.order ?? 0) }
  }

  /// Forgets what was read and what was told of it; who is watched stays.
  mutating func reset() {
    for number in told.indices { (told[number], holds[number]) = (TargetIndex.unknown, .zero) }
    for number in wholes.keys { wholes[number]?.verdict = nil }
    held = []
    heldWholes = []
    blocks = nil
    forgetPaths()
  }

  /// The next reading judges everything anew, also what comes out as before.
  private mutating func forgetPaths() {
    for family in indexes.indices {
      for position in indexes[family].paths.indices { indexes[family].paths[position] = TargetIndex.unknown }
    }
    for number in classes.indices { touch(Int32(number)) }
    for number in wholes.keys { touchWhole(number) }
  }

  // MARK: - Audit

  /// Counts what an audit's answers say otherwise than the paths that are held: of classes, of members that were asked by
  /// themselves, and blocks that were not known.
  func differences(in audit: KernelReading) -> Int {
    guard held.isEmpty, heldWholes.isEmpty else { return missingBlocks }
    var found = missingBlocks
    for index in indexes {
      var asked: [UInt128: Path] = [:]
      for position in index.addresses.indices where index.classes[position] >= 0 && index.paths[position] >= 0 {
        let query = RouteQuery(index.address(at: position))
        guard asked[index.addresses[position]] == nil, let answer = audit.answers[query] else { continue }
        let path = StatusRules.judge(answer, to: query, in: audit.tables)
        asked[index.addresses[position]] = path
        if path != paths[index.paths[position]] { found += 1 }
      }
    }
    for (number, whole) in wholes where watches[Int(number)]?.form == .own {
      guard let watch = watches[Int(number)], let queries = whole.queries, let told = whole.verdict?.published,
        queries.allSatisfy({ audit.answers[$0] != nil })
      else { continue }
      let verdict = TargetRules.verdict(
        for: watch.target, resolution: watch.resolution, answers: audit.answers, in: audit.tables)
      if !watch.hasNewAnswer, verdict != told { found += 1 }
    }
    return found
  }
}
