internal import ReachabilityModel

/// The watched addresses of one family in ascending order: two binary searches find those in a prefix.
///
/// Stored as columns, because most operations read only one of them.
struct EngineTargetAddressIndex {
  let family: IPAddress.Family
  /// The addresses as integers, ascending; several targets may have the same address.
  private(set) var addresses: [UInt128] = []
  /// The target of each address; ``removed`` when it is no longer watched.
  private(set) var targets: [EngineTargetID] = []
  /// The protocol and port of each address's packets.
  private(set) var transports: [TransportSelector?] = []
  /// The class of each address, ``unclassified`` or ``individual``.
  var classes: [ForwardingClassID] = []
  /// The path of each address in the last reading; ``EnginePathInterner/none`` before the first.
  var paths: [PathID] = []

  /// The target is no longer watched.
  static let removed: EngineTargetID = -1
  /// The address has no class yet.
  static let unclassified: ForwardingClassID = -2
  /// The address is looked up for its own target only.
  static let individual: ForwardingClassID = -1

  /// Whether there may be ``unclassified`` addresses.
  var hasUnclassified = false
  /// Whether there may be ``individual`` addresses.
  private(set) var hasIndividual = false

  /// An address that is not yet in the columns.
  private struct Added {
    let address: UInt128
    let target: EngineTargetID
    let transport: TransportSelector?
    let classID: ForwardingClassID
  }

  private var added: [Added] = []
  private var removedCount = 0

  init(_ family: IPAddress.Family) { self.family = family }

  /// Whether there is no address, including those that ``merge()`` has not yet inserted.
  var isEmpty: Bool { addresses.isEmpty && added.isEmpty }

  /// Adds an address; searches find it after the next ``merge()``.
  mutating func add(
    _ address: IPAddress, for target: EngineTargetID, _ transport: TransportSelector?, isIndividual: Bool
  ) {
    added.append(
      Added(
        address: address.number, target: target, transport: transport,
        classID: isIndividual ? Self.individual : Self.unclassified))
    if isIndividual { hasIndividual = true }
  }

  mutating func remove(_ address: IPAddress, of target: EngineTargetID) {
    merge()
    guard let position = position(of: address.number, target) else { return }
    targets[position] = Self.removed
    removedCount += 1
  }

  func position(of address: UInt128, _ target: EngineTargetID) -> Int? {
    var position = lowerBound(address)
    while position < addresses.count, addresses[position] == address {
      if targets[position] == target { return position }
      position += 1
    }
    return nil
  }

  func range(of prefix: IPPrefix) -> Range<Int> {
    guard prefix.address.family == family else { return 0..<0 }
    if prefix.length == 0 { return 0..<addresses.count }
    let bounds = prefix.bounds
    let (first, last) = (bounds.lowerBound.number, bounds.upperBound.number)
    let lower = lowerBound(first)
    let upper = last == .max ? addresses.count : lowerBound(last + 1)
    return lower..<upper
  }

  func address(at position: Int) -> IPAddress { IPAddress(family, number: addresses[position]) }

  private func lowerBound(_ address: UInt128) -> Int {
    var (low, high) = (0, addresses.count)
    while low < high {
      let middle = low + (high - low) / 2
      if addresses[middle] < address { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Sets the path of all members of a class.
  ///
  /// This loop runs over every target when the default route changes.
  ///
  /// - Returns: the targets that had another path.
  mutating func setPath(_ path: PathID, ofClass id: ForwardingClassID, in range: Range<Int>) -> [EngineTargetID] {
    let (classes, targets) = (classes, targets)
    // Moved out, because changing it in place would copy the column at the first write.
    var column: [PathID] = []
    swap(&column, &paths)
    defer { swap(&column, &paths) }
    var changed: [EngineTargetID] = []
    changed.reserveCapacity(range.count)
    for position in range where classes[position] == id && column[position] != path {
      guard targets[position] != Self.removed else { continue }
      column[position] = path
      changed.append(targets[position])
    }
    return changed
  }

  /// Inserts added addresses and drops removed ones, unless the columns would barely change.
  mutating func merge() {
    guard !added.isEmpty || removedCount > addresses.count / 4 else { return }
    added.sort { $0.address < $1.address }
    var merged = EngineTargetAddressIndex(family)
    merged.reserve(addresses.count - removedCount + added.count)
    var next = 0
    for position in addresses.indices where targets[position] != Self.removed {
      while next < added.count, added[next].address < addresses[position] {
        merged.append(added[next], EnginePathInterner.none)
        next += 1
      }
      let kept = Added(
        address: addresses[position], target: targets[position], transport: transports[position],
        classID: classes[position])
      merged.append(kept, paths[position])
    }
    merged.hasUnclassified = hasUnclassified || !added.isEmpty
    for entry in added[next...] { merged.append(entry, EnginePathInterner.none) }
    self = merged
  }

  private mutating func reserve(_ count: Int) {
    addresses.reserveCapacity(count)
    targets.reserveCapacity(count)
    transports.reserveCapacity(count)
    classes.reserveCapacity(count)
    paths.reserveCapacity(count)
  }

  private mutating func append(_ entry: Added, _ path: PathID) {
    addresses.append(entry.address)
    targets.append(entry.target)
    transports.append(entry.transport)
    if entry.classID == Self.individual { hasIndividual = true }
    classes.append(entry.classID)
    paths.append(path)
  }
}
