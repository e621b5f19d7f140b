internal import ReachabilityModel

// The classes: which address is in which, and what they say of their members.
extension WatchBook {
  /// The class of a block, a new one when there is none.
  mutating func classNumber(of block: IPPrefix) -> Int32 {
    if let number = classNumbers[block] { return number }
    let number: Int32
    if let reused = freeClasses.popLast() {
      number = reused
    } else {
      number = Int32(classes.count)
      classes.append(nil)
    }
    classes[Int(number)] = PathClass(block: block)
    classNumbers[block] = number
    return number
  }

  /// Ends a class that has no members.
  mutating func drop(_ number: Int32) {
    guard let block = classes[Int(number)]?.block else { return }
    classNumbers[block] = nil
    classes[Int(number)] = nil
    freeClasses.append(number)
  }

  /// The class of an address; nil when it is in none.
  func pathClass(_ family: Int, at position: Int) -> PathClass? {
    let number = indexes[family].classes[position]
    return number < 0 ? nil : classes[Int(number)]
  }

  /// The number of an address's path as of the last reading; less than zero before the first.
  func path(_ family: Int, at position: Int) -> Int32 {
    guard let pathClass = pathClass(family, at: position), pathClass.isUniform else {
      return indexes[family].paths[position]
    }
    return pathClass.path
  }

  /// Ends a class's uniformity: what it says of all members stands in their own columns again.
  mutating func singleOut(_ number: Int32) {
    guard let pathClass = classes[Int(number)], pathClass.isUniform else { return }
    classes[Int(number)]?.isUniform = false
    let family = pathClass.block.address.family.place
    for position in indexes[family].range(of: pathClass.block) where indexes[family].classes[position] == number {
      singleOut(family, position, pathClass.path)
    }
  }

  /// Notes in its own columns that an address has the path of its class.
  mutating func singleOut(_ family: Int, _ position: Int, _ path: Int32) {
    let watch = indexes[family].watches[position]
    guard watch != TargetIndex.nobody else { return }
    indexes[family].paths[position] = path
    told[Int(watch)] = path
  }

  mutating func touch(_ number: Int32) {
    guard classes[Int(number)]?.isTouched == false else { return }
    classes[Int(number)]?.isTouched = true
    touchedClasses.append(number)
  }

  // MARK: - Members

  /// Puts addresses into the classes of their blocks.
  mutating func place(_ family: Int, onlyFresh: Bool) {
    guard let blocks, indexes[family].hasUnplaced || !onlyFresh else { return }
    indexes[family].hasUnplaced = false
    for position in indexes[family].addresses.indices {
      let old = indexes[family].classes[position]
      guard old == TargetIndex.unplaced || !onlyFresh && old >= 0 else { continue }
      let block = blocks.longest(covering: indexes[family].address(at: position))
      move(family, position, to: block)
    }
  }

  mutating func move(_ family: Int, _ position: Int, to block: IPPrefix) {
    let old = indexes[family].classes[position]
    let new = classNumber(of: block)
    guard new != old else { return }
    if old >= 0, let left = classes[Int(old)], left.isUniform { singleOut(family, position, left.path) }
    singleOut(new)
    indexes[family].classes[position] = new
    classes[Int(new)]?.hasNewMembers = true
    touch(new)
    // The answer for the others may have been one for what is now a class of its own.
    if old >= 0, classes[Int(old)]?.query?.destination == indexes[family].address(at: position) { touch(old) }
  }

  /// A member to ask about: the same as before, if it is still one.
  func representative(of number: Int32, _ pathClass: PathClass) -> IPAddress? {
    let index = indexes[pathClass.block.address.family.place]
    func first(in block: IPPrefix) -> IPAddress? {
      let range = index.range(of: block)
      let position = range.first { index.classes[$0] == number && index.watches[$0] != TargetIndex.nobody }
      return position.map(index.address)
    }
    return pathClass.query.flatMap { first(in: $0.destination.hostBlock) } ?? first(in: pathClass.block)
  }

  func forEachMember(of number: Int32, _ block: IPPrefix, _ body: (TargetIndex, Int) -> Void) {
    let index = indexes[block.address.family.place]
    for position in index.range(of: block)
    where index.classes[position] == number && index.watches[position] != TargetIndex.nobody {
      body(index, position)
    }
  }

  // MARK: - Bounds

  mutating func keepPathsInBounds() {
    guard paths.count > Limits.idlePaths + 2 * (classes.count + watches.count) else { return }
    let used = [indexes[0].paths, indexes[1].paths, told, classes.compactMap { $0?.path }].joined()
    let renumbered = paths.keep(used)
    func new(_ old: Int32) -> Int32 { old < 0 ? old : renumbered[Int(old)] }
    for family in indexes.indices { indexes[family].paths = indexes[family].paths.map(new) }
    told = told.map(new)
    for number in classes.indices {
      if let path = classes[number]?.path { classes[number]?.path = new(path) }
    }
  }
}
