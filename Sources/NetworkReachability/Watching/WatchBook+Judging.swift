internal import ReachabilityModel

// From a reading's answers to what has changed.
extension WatchBook {
  /// What a reading did to the watched targets.
  struct Outcome {
    /// What must be told.
    var changes = Changes()
    /// The classes whose members were judged anew, whether or not that changed anything.
    var judgedClasses: [Int32] = []
    /// The others that were.
    var judged: [Int32] = []

    /// Nobody was judged.
    var isEmpty: Bool { judgedClasses.isEmpty && judged.isEmpty }
  }

  /// Judges the targets that the last survey touched by the answers to its questions.
  ///
  /// - Parameters:
  ///   - reading: the answers.
  ///   - settle: how long a loss waits.
  /// - Returns: what changed, and who was judged.
  mutating func judge(_ reading: KernelReading, settle: Duration) -> Outcome {
    keepPathsInBounds()
    needsAnotherRound = false
    var round = Round(reading: reading, settle: settle)
    let touched = touchedClasses
    touchedClasses = []
    for number in touched { judge(class: number, &round) }
    judgeWholes(&round)
    tellHolds(&round)
    return round.outcome
  }

  /// One reading as it is worked through.
  struct Round {
    let reading: KernelReading
    let settle: Duration
    let hasOneIPv6Source: Bool
    var outcome = Outcome()
    /// Names one of whose addresses has another path.
    var severals: Set<Int32> = []

    init(reading: KernelReading, settle: Duration) {
      self.reading = reading
      self.settle = settle
      hasOneIPv6Source = reading.tables.hasOneIPv6Source
    }
  }

  // MARK: - Classes

  private mutating func judge(class number: Int32, _ round: inout Round) {
    guard let pathClass = classes[Int(number)], pathClass.isTouched else { return }
    guard let query = pathClass.query, let answer = round.reading.answers[query] else {
      touchedClasses.append(number)
      return
    }
    var route: Route?
    if case .route(let found) = answer { route = found }
    let isSpread = route?.dependsOnDestination(hasOneIPv6Source: round.hasOneIPv6Source) ?? false
    let path = paths.number(of: StatusRules.judge(answer, to: query, in: round.reading.tables))
    classes[Int(number)]?.match = route.map { RouteChanges.Block($0.prefix, table: $0.table) }
    classes[Int(number)]?.isSpread = isSpread
    classes[Int(number)]?.isTouched = false
    let family = query.destination.family.place
    if isSpread {
      singleOut(number)
      classes[Int(number)]?.path = TargetIndex.unknown
      guard judgeOneByOne(number, pathClass.block, family, &round) else {
        touch(number)
        needsAnotherRound = true
        return
      }
    } else {
      setPath(path, ofClass: number, pathClass.block, family, &round)
      classes[Int(number)]?.path = path
    }
    classes[Int(number)]?.hasNewMembers = false
  }

  private mutating func setPath(
    _ path: Int32, ofClass number: Int32, _ block: IPPrefix, _ family: Int,
    _ round: inout Round
  ) {
    round.outcome.judgedClasses.append(number)
    guard let pathClass = classes[Int(number)], pathClass.path != path || pathClass.hasNewMembers else { return }
    let mayTellAll = mayTellAll(of: path, round)
    if pathClass.isUniform, mayTellAll {
      return round.outcome.changes.classMoves.append(ClassMove(pathClass: number, from: pathClass.path, to: path))
    }
    singleOut(number)
    let moved = indexes[family].setPath(path, ofClass: number, in: indexes[family].range(of: block))
    if mayTellAll {
      classes[Int(number)]?.isUniform = true
      return tellAll(path, to: moved, &round)
    }
    for watch in moved { take(path, for: watch, &round) }
  }

  /// - Returns: false when a member was not asked about.
  private mutating func judgeOneByOne(
    _ number: Int32, _ block: IPPrefix, _ family: Int, _ round: inout Round
  ) -> Bool {
    var isWhole = true
    for position in indexes[family].range(of: block) where indexes[family].classes[position] == number {
      let watch = indexes[family].watches[position]
      guard watch != TargetIndex.nobody else { continue }
      let query = RouteQuery(indexes[family].address(at: position))
      guard let answer = round.reading.answers[query] else {
        isWhole = false
        continue
      }
      round.outcome.judged.append(watch)
      let path = paths.number(of: StatusRules.judge(answer, to: query, in: round.reading.tables))
      guard indexes[family].paths[position] != path else { continue }
      indexes[family].paths[position] = path
      take(path, for: watch, &round)
    }
    return isWhole
  }

  /// Takes in the path of one address of a watch.
  private mutating func take(_ path: Int32, for watch: Int32, _ round: inout Round) {
    // Whatever is not single has a whole; to look into the watch itself would copy it.
    guard wholes.isEmpty || wholes.index(forKey: watch) == nil else {
      round.severals.insert(watch)
      return
    }
    let old = told[Int(watch)]
    if old >= 0, old != path, paths.isLoss(old, path), round.settle > .zero {
      if holds[Int(watch)] == .zero {
        holds[Int(watch)] = round.reading.uptime + round.settle
        held.append(watch)
      }
      return
    }
    tell(path, to: watch, &round)
  }

  /// Whether nobody who has this path now must be told otherwise than at once, and by itself.
  private func mayTellAll(of path: Int32, _ round: Round) -> Bool {
    wholes.isEmpty && held.isEmpty && (round.settle == .zero || paths.isReachable(path))
  }

  /// What ``take(_:for:_:)`` does, for the many whom a default route carries.
  private mutating func tellAll(_ path: Int32, to watches: [Int32], _ round: inout Round) {
    var column: [Int32] = []
    swap(&column, &told)
    defer { swap(&column, &told) }
    round.outcome.changes.moves.reserveCapacity(round.outcome.changes.moves.count + watches.count)
    for watch in watches {
      let old = column[Int(watch)]
      guard old != path else { continue }
      column[Int(watch)] = path
      round.outcome.changes.moves.append(Move(watch: watch, from: old, to: path))
    }
  }

  private mutating func tell(_ path: Int32, to watch: Int32, _ round: inout Round) {
    holds[Int(watch)] = .zero
    let old = told[Int(watch)]
    guard old != path else { return }
    told[Int(watch)] = path
    round.outcome.changes.moves.append(Move(watch: watch, from: old, to: path))
  }

  /// Tells the losses whose time is over.
  private mutating func tellHolds(_ round: inout Round) {
    guard !held.isEmpty else { return }
    let waiting = held
    held = []
    for watch in waiting where holds[Int(watch)] > .zero {
      if holds[Int(watch)] <= round.reading.uptime, let path = currentPath(of: watch) {
        tell(path, to: watch, &round)
      } else {
        held.append(watch)
      }
    }
  }

  /// The path of a single target as of this reading; nil when it was not read.
  private func currentPath(of number: Int32) -> Int32? {
    guard let watch = watches[Int(number)], case .address(let address) = watch.target.remote else { return nil }
    let family = address.unmapped.family.place
    guard let position = indexes[family].position(of: address.unmapped.number, number),
      pathClass(family, at: position)?.isTouched == false
    else { return nil }
    let path = path(family, at: position)
    return path < 0 ? nil : path
  }
}
