internal import ReachabilityModel

// From what a survey says to the questions that must be asked.
extension WatchBook {
  /// Whether the coming survey should list all blocks: when there is no list or, after lost events, it may have holes.
  mutating func needsBlocks(isAfterLoss: Bool) -> Bool {
    guard wantsBlocks else {
      // Whoever is watched next must not be placed by what has holes.
      if isAfterLoss { blocks = nil }
      return false
    }
    return isAfterLoss || blocks == nil
  }

  /// True when targets are watched for which a list of all blocks is of use.
  private var wantsBlocks: Bool { indexes.contains { !$0.isEmpty } }

  /// Takes in a survey and lists what must be looked up to judge the targets that it touches.
  ///
  /// - Parameters:
  ///   - survey: what the source knows.
  ///   - due: questions whose answers have run out, or may have.
  /// - Returns: the questions; what is not answered in the next reading is asked again in the one after it.
  mutating func queries(for survey: KernelSurvey, due: Set<RouteQuery>) -> [RouteQuery] {
    guard count > 0 else {
      forgetRoutes()
      return []
    }
    for family in indexes.indices { indexes[family].settle() }
    take(survey.changes, isAudit: survey.isAudit)
    touch(due)
    touchHolds(until: survey.uptime)
    round += 1
    var queries = askClasses()
    askWholes(in: survey.tables, &queries)
    if survey.isAudit { queries += auditSamples() }
    return queries
  }

  /// Without targets nothing is mirrored.
  private mutating func forgetRoutes() {
    guard blocks != nil else { return }
    blocks = nil
    classes = []
    freeClasses = []
    classNumbers = [:]
    touchedClasses = []
    touchedWholes = []
    indexes = IPAddress.Family.allCases.map(TargetIndex.init)
    paths = PathCatalogue()
  }

  // MARK: - Changes

  private mutating func take(_ changes: RouteChanges, isAudit: Bool) {
    for change in changes.blocks {
      let isNew = blocks?.insert(change.prefix)
      if isNew == false, goesByClasses(change) {
        touchClasses(in: change)
      } else {
        touch(change, isNew: isNew ?? false)
      }
    }
    if let listed = changes.allBlocks { take(every: listed, isAudit: isAudit) }
    if blocks != nil {
      for family in indexes.indices { place(family, onlyFresh: true) }
    }
    if changes.isAny { touchClassesAndWholes() }
  }

  private mutating func touchClassesAndWholes() {
    for number in classes.indices { touch(Int32(number)) }
    for number in Array(wholes.keys) where watches[Int(number)]?.form == .own { touchWhole(number) }
  }

  /// Has every target asked about again, at once.
  mutating func touchEverything() {
    touchClassesAndWholes()
    needsAnotherRound = true
  }

  private mutating func take(every listed: Set<RouteChanges.Block>, isAudit: Bool) {
    let fresh = RouteBlocks(listed.lazy.map(\.prefix))
    let missing = blocks?.countMissing(of: fresh) ?? 0
    if isAudit { missingBlocks = missing }
    // Blocks too many cost a question now and then, so they are dropped when they are many.
    if let blocks, missing == 0, blocks.count <= 2 * fresh.count + Limits.idleBlocks { return }
    blocks = fresh
    for family in indexes.indices { place(family, onlyFresh: false) }
  }

  /// Whether all addresses in a block that was known before are in classes, and those are fewer.
  private func goesByClasses(_ change: RouteChanges.Block) -> Bool {
    let index = indexes[change.prefix.address.family.place]
    return !index.hasOwn && index.range(of: change.prefix).count > classes.count
  }

  /// Marks the classes that a changed block touches: those in it, for every address is in the class of its longest block.
  private mutating func touchClasses(in change: RouteChanges.Block) {
    for number in classes.indices {
      guard let pathClass = classes[number], pathClass.block.length >= change.prefix.length,
        change.prefix.contains(pathClass.block.address), pathClass.isAffected(by: change)
      else { continue }
      touch(Int32(number))
    }
  }

  /// Marks what a changed block touches, and puts addresses into its class when it is new.
  private mutating func touch(_ change: RouteChanges.Block, isNew: Bool) {
    let family = change.prefix.address.family.place
    let range = indexes[family].range(of: change.prefix)
    guard isNew else { return touch(change, in: range, indexes[family].classes, indexes[family].watches) }
    for position in range {
      let number = indexes[family].classes[position]
      if number >= 0, let pathClass = classes[Int(number)], pathClass.block.length < change.prefix.length {
        move(family, position, to: change.prefix)
      } else {
        touch(change, in: position..<position + 1, indexes[family].classes, indexes[family].watches)
      }
    }
  }

  /// Marks what stands in these places; in the columns themselves, for there may be a hundred thousand.
  private mutating func touch(
    _ change: RouteChanges.Block, in range: Range<Int>, _ numbers: [Int32], _ watches: [Int32]
  ) {
    var last = TargetIndex.unplaced
    for position in range {
      let number = numbers[position]
      // Neighbours mostly are in one class.
      if number == last, number != TargetIndex.own { continue }
      last = number
      if number == TargetIndex.own {
        if watches[position] >= 0 { touchWhole(watches[position]) }
      } else if number >= 0, classes[Int(number)]?.isAffected(by: change) == true {
        touch(number)
      }
    }
  }

  /// Marks what is judged by some answers.
  private mutating func touch(_ due: Set<RouteQuery>) {
    guard !due.isEmpty else { return }
    for query in due { touch(RouteChanges.Block(query.destination.hostBlock, table: 0), isNew: false) }
    // The member that was asked about may be watched no more; its answer still stands for the others.
    for number in classes.indices {
      if let query = classes[number]?.query, due.contains(query) { touch(Int32(number)) }
    }
  }

  /// A loss is judged again before it is told.
  private mutating func touchHolds(until uptime: Duration) {
    for watch in heldWholes {
      guard let until = wholes[watch]?.verdict?.holdUntil, until <= uptime else { continue }
      touchWhole(watch)
      touchAddresses(of: watch)
    }
    for watch in held where holds[Int(watch)] > .zero && holds[Int(watch)] <= uptime { touchAddresses(of: watch) }
  }

  private mutating func touchAddresses(of number: Int32) {
    guard let watch = watches[Int(number)] else { return }
    let addresses = routedAddresses(of: watch) ?? []
    for address in addresses.map(\.unmapped) {
      let index = indexes[address.family.place]
      guard let position = index.position(of: address.number, number), index.classes[position] >= 0 else { continue }
      touch(index.classes[position])
    }
  }

  // MARK: - Questions

  private mutating func askClasses() -> [RouteQuery] {
    let touched = touchedClasses
    touchedClasses = []
    var queries: [RouteQuery] = []
    for number in touched {
      guard let pathClass = classes[Int(number)], pathClass.isTouched, pathClass.round != round else { continue }
      guard let member = representative(of: number, pathClass) else {
        drop(number)
        continue
      }
      let query = RouteQuery(member)
      classes[Int(number)]?.query = query
      classes[Int(number)]?.round = round
      touchedClasses.append(number)
      queries.append(query)
      guard pathClass.isSpread else { continue }
      forEachMember(of: number, pathClass.block) { index, position in
        let address = index.address(at: position)
        if address != member { queries.append(RouteQuery(address)) }
      }
    }
    return queries
  }

  private mutating func askWholes(in tables: KernelTables, _ queries: inout [RouteQuery]) {
    for number in touchedWholes {
      guard let watch = watches[Int(number)], watch.form == .own, wholes[number]?.isTouched == true else { continue }
      let wanted = TargetRules.queries(
        for: watch.target, resolution: watch.resolution, permitting: requirement, in: tables)
      if wanted != wholes[number]?.queries { replaceQueries(of: number, with: wanted) }
      queries += wanted
    }
  }

  /// Has changes find the new questions of a watch instead of the old.
  private mutating func replaceQueries(of number: Int32, with wanted: [RouteQuery]) {
    let old = Set(wholes[number]?.queries?.map(\.destination) ?? [])
    let new = Set(wanted.map(\.destination))
    for address in old.subtracting(new) { remove(address, of: number) }
    for address in new.subtracting(old) { add(address, for: number, isOwn: true) }
    wholes[number]?.queries = wanted
  }
}

extension IPAddress {
  /// The block of this address alone.
  var hostBlock: IPPrefix { IPPrefix(self, length: family.bitCount) }
}
