internal import ReachabilityModel

// What is told of changes, what was told, and what becomes of it without a reading.
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
  /// - Returns: one for each change, in the order in which the targets were asked for.
  mutating func transitions(
    _ changes: Changes, sequence: UInt64, time: Timestamp, causes: Set<Cause>
  ) -> [Transition] {
    let changes = singly(changes)
    let count = changes.moves.count + changes.verdicts.count
    guard count > 0 else { return [] }
    let sorted = Cause.sorted(causes)
    let sortedWithName = Cause.sorted(causes.union([.dnsChanged]))
    var transitions: [Transition] = []
    transitions.reserveCapacity(count)
    for place in inOrder(changes, count) {
      let number = Int(changes.watch(at: place))
      guard let target = watches[number]?.target else { continue }
      let (old, new): (HostVerdict?, HostVerdict)
      if place < changes.moves.count {
        let move = changes.moves[place]
        (old, new) = (move.from < 0 ? nil : verdict(of: target, path: move.from), verdict(of: target, path: move.to))
      } else {
        let change = changes.verdicts[place - changes.moves.count]
        (old, new) = (change.from, change.to)
      }
      let hasNewAnswer = watches[number]?.hasNewAnswer == true
      let known = hasNewAnswer ? sortedWithName : sorted
      if hasNewAnswer { watches[number]?.hasNewAnswer = false }
      transitions.append(
        Transition(sequence: sequence, time: time, causes: old == nil ? [] : known, change: .host(from: old, to: new)))
    }
    return transitions
  }

  /// Changes with the members of classes one by one.
  private func singly(_ changes: Changes) -> Changes {
    var changes = changes
    for move in changes.classMoves {
      guard let block = classes[Int(move.pathClass)]?.block else { continue }
      forEachMember(of: move.pathClass, block) { index, position in
        changes.moves.append(Move(watch: index.watches[position], from: move.from, to: move.to))
      }
    }
    changes.classMoves = []
    return changes
  }

  /// The targets that were judged anew.
  func targets(of outcome: Outcome) -> [ReachabilityTarget] {
    var numbers = outcome.judged
    for number in outcome.judgedClasses {
      guard let block = classes[Int(number)]?.block else { continue }
      forEachMember(of: number, block) { index, position in numbers.append(index.watches[position]) }
    }
    return numbers.compactMap { watches[Int($0)]?.target }
  }

  /// Nothing is known any more; what was told before is told to be unknown.
  mutating func fail(with unknown: NetworkPath) -> Changes {
    var changes = Changes()
    let path = paths.number(of: unknown)
    for number in classes.indices { singleOut(Int32(number)) }
    for number in told.indices where told[number] >= 0 {
      if told[number] != path { changes.moves.append(Move(watch: Int32(number), from: told[number], to: path)) }
      told[number] = path
      holds[number] = .zero
    }
    for (number, whole) in wholes {
      guard let old = whole.verdict?.published, let target = watches[Int(number)]?.target else { continue }
      let new = HostVerdict(target: target, path: unknown, phase: old.phase)
      wholes[number]?.verdict?.replace(with: new)
      if new != old { changes.verdicts.append(NewVerdict(watch: number, from: old, to: new)) }
    }
    held = []
    heldWholes = []
    forgetPaths()
    return changes
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
    for number in classes.indices {
      classes[number]?.path = TargetIndex.unknown
      classes[number]?.isUniform = false
      touch(Int32(number))
    }
    for number in wholes.keys { touchWhole(number) }
  }

  /// The places of changes in the order in which their targets were asked for.
  ///
  /// Where many targets change at once, putting each into its place is several times faster than comparing.
  private func inOrder(_ changes: Changes, _ count: Int) -> [Int] {
    guard count > 1 else { return Array(0..<count) }
    guard !hasReusedNumbers, count > watches.count / 8 else {
      return (0..<count).sorted { orders[Int(changes.watch(at: $0))] < orders[Int(changes.watch(at: $1))] }
    }
    var places = [Int](repeating: -1, count: watches.count)
    for place in 0..<count { places[Int(changes.watch(at: place))] = place }
    return places.filter { $0 >= 0 }
  }

  // MARK: - What was told

  /// The last verdict over a watched target; nil when it is not watched or was not judged yet.
  func verdict(of target: ReachabilityTarget) -> HostVerdict? { numbers[target].flatMap(verdict) }

  func verdict(of number: Int32) -> HostVerdict? {
    guard let watch = watches[Int(number)] else { return nil }
    guard watch.form == .single else { return wholes[number]?.verdict?.published }
    let path = toldPath(of: number, watch.target)
    return path < 0 ? nil : verdict(of: watch.target, path: path)
  }

  /// The number of the path that everybody has been told of a single target.
  private func toldPath(of number: Int32, _ target: ReachabilityTarget) -> Int32 {
    guard case .address(let address) = target.remote else { return told[Int(number)] }
    let family = address.unmapped.family.place
    guard let position = indexes[family].position(of: address.unmapped.number, number),
      let pathClass = pathClass(family, at: position), pathClass.isUniform
    else { return told[Int(number)] }
    return pathClass.path
  }

  /// The verdict over a single target that has a path.
  func verdict(of target: ReachabilityTarget, path number: Int32) -> HostVerdict {
    let path = paths[number]
    guard case .address(let address) = target.remote else { return HostVerdict(target: target, path: path) }
    return HostVerdict(target: target, path: path, addresses: [.init(address: address, path: path)])
  }

  /// The targets in the order in which they were asked for.
  var inOrder: [ReachabilityTarget] {
    watches.indices.sorted { orders[$0] < orders[$1] }.compactMap { watches[$0]?.target }
  }
}
