internal import ReachabilityModel

/// The watched addresses of one family in ascending order, so that a block's are found by two binary searches.
///
/// Kept as columns, because most changes look at one of them only.
struct TargetIndex {
  /// The family of all addresses.
  let family: IPAddress.Family
  /// The addresses as numbers, ascending; several watches may have the same one.
  private(set) var addresses: [UInt128] = []
  /// The watch that each belongs to; ``nobody`` where it ended.
  private(set) var watches: [Int32] = []
  /// The path class of each, ``unplaced`` or ``own``.
  var classes: [Int32] = []
  /// The number of each one's path as of the last reading, ``unknown`` before.
  var paths: [Int32] = []

  /// A place whose watch ended.
  static let nobody: Int32 = -1
  /// An address that is not in a class yet.
  static let unplaced: Int32 = -2
  /// An address that is asked about for its own watch only.
  static let own: Int32 = -1
  /// No path yet.
  static let unknown: Int32 = -1

  /// Addresses may be ``unplaced``.
  var hasUnplaced = false
  /// Addresses may be ``own``.
  private(set) var hasOwn = false

  private var fresh: [(address: UInt128, watch: Int32, pathClass: Int32)] = []
  private var goneCount = 0

  init(_ family: IPAddress.Family) { self.family = family }

  /// True when there is no address, not even one that waits for ``settle()``.
  var isEmpty: Bool { addresses.isEmpty && fresh.isEmpty }

  /// Adds an address; it is found after ``settle()``.
  mutating func add(_ address: IPAddress, for watch: Int32, isOwn: Bool) {
    fresh.append((address.number, watch, isOwn ? Self.own : Self.unplaced))
    if isOwn { hasOwn = true }
  }

  /// Takes out the address of a watch.
  mutating func remove(_ address: IPAddress, of watch: Int32) {
    settle()
    guard let position = position(of: address.number, watch) else { return }
    watches[position] = Self.nobody
    goneCount += 1
  }

  /// Where a watch's address stands.
  func position(of address: UInt128, _ watch: Int32) -> Int? {
    var position = lowerBound(address)
    while position < addresses.count, addresses[position] == address {
      if watches[position] == watch { return position }
      position += 1
    }
    return nil
  }

  /// The places of a block's addresses.
  func range(of block: IPPrefix) -> Range<Int> {
    guard block.address.family == family else { return 0..<0 }
    if block.length == 0 { return 0..<addresses.count }
    let bounds = block.bounds
    let (first, last) = (bounds.lowerBound.number, bounds.upperBound.number)
    let lower = lowerBound(first)
    let upper = last == .max ? addresses.count : lowerBound(last + 1)
    return lower..<upper
  }

  /// The address at a place.
  func address(at position: Int) -> IPAddress { IPAddress(family, number: addresses[position]) }

  private func lowerBound(_ address: UInt128) -> Int {
    var (low, high) = (0, addresses.count)
    while low < high {
      let middle = low + (high - low) / 2
      if addresses[middle] < address { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Gives a path to the members of a class.
  ///
  /// The loop that runs over every target when the default route changes.
  ///
  /// - Returns: the watches of those who had another.
  mutating func setPath(_ path: Int32, ofClass number: Int32, in range: Range<Int>) -> [Int32] {
    let (classes, watches) = (classes, watches)
    // Where it stands, a copy of it would be made at the first change.
    var column: [Int32] = []
    swap(&column, &paths)
    defer { swap(&column, &paths) }
    var moved: [Int32] = []
    moved.reserveCapacity(range.count)
    for position in range where classes[position] == number && column[position] != path {
      guard watches[position] != Self.nobody else { continue }
      column[position] = path
      moved.append(watches[position])
    }
    return moved
  }

  /// Merges in what was added and drops what ended, when that is worth the while.
  mutating func settle() {
    guard !fresh.isEmpty || goneCount > addresses.count / 4 else { return }
    fresh.sort { $0.address < $1.address }
    var merged = TargetIndex(family)
    merged.reserve(addresses.count - goneCount + fresh.count)
    var next = 0
    for position in addresses.indices where watches[position] != Self.nobody {
      while next < fresh.count, fresh[next].address < addresses[position] {
        merged.append(fresh[next].address, fresh[next].watch, fresh[next].pathClass, Self.unknown)
        next += 1
      }
      merged.append(addresses[position], watches[position], classes[position], paths[position])
    }
    merged.hasUnplaced = hasUnplaced || !fresh.isEmpty
    for entry in fresh[next...] { merged.append(entry.address, entry.watch, entry.pathClass, Self.unknown) }
    self = merged
  }

  private mutating func reserve(_ count: Int) {
    addresses.reserveCapacity(count)
    watches.reserveCapacity(count)
    classes.reserveCapacity(count)
    paths.reserveCapacity(count)
  }

  private mutating func append(_ address: UInt128, _ watch: Int32, _ pathClass: Int32, _ path: Int32) {
    addresses.append(address)
    watches.append(watch)
    if pathClass == Self.own { hasOwn = true }
    classes.append(pathClass)
    paths.append(path)
  }
}
