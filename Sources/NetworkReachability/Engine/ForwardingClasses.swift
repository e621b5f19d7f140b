internal import ReachabilityModel

/// Groups the watched addresses into ``ForwardingClass``es, and finds the classes that a changed route affects (ADR 15).
///
/// An address belongs to the class of the longest prefix that contains it, over the prefixes of all routes and rules, and of the
/// protocol and port of its packets while policy rules match these.
/// Addresses that need lookups of their own (pairs, scoped targets, special addresses) are in the index, but in no class.
struct ForwardingClasses {
  /// The addresses of IPv4, then those of IPv6.
  var indexes = IPAddress.Family.allCases.map(EngineTargetAddressIndex.init)
  /// The prefixes of all routes and rules; nil until a survey has listed them.
  var prefixes: RouteBlocks?
  /// By identifier; nil where a class was removed.
  var classes: [ForwardingClass?] = []
  private var freeIDs: [ForwardingClassID] = []
  private var ids: [ForwardingClass.Key: ForwardingClassID] = [:]
  var hasTransportRules = false
  /// The classes that the next reading looks up.
  private var affected: [ForwardingClassID] = []
  /// The number of the last survey; each survey looks a class up once.
  var survey: UInt64 = 0
  /// The number of the last audit's first sample.
  var auditPosition = 0
  /// The prefixes that the last audit listed and ``prefixes`` lacked.
  var missingPrefixes = 0

  // MARK: - Addresses

  /// Adds the address of a target; it gets a class with the next survey.
  mutating func add(
    _ address: IPAddress, for target: EngineTargetID, _ transport: TransportSelector?, isIndividual: Bool = false
  ) {
    indexes[address.family.index].add(address, for: target, transport, isIndividual: isIndividual)
  }

  mutating func remove(_ address: IPAddress, of target: EngineTargetID) {
    indexes[address.family.index].remove(address, of: target)
  }

  /// Makes added addresses searchable.
  mutating func mergeAddresses() {
    for family in indexes.indices { indexes[family].merge() }
  }

  /// Removes everything when no target is left to mirror prefixes for.
  mutating func removeAll() {
    prefixes = nil
    classes = []
    freeIDs = []
    ids = [:]
    affected = []
    indexes = IPAddress.Family.allCases.map(EngineTargetAddressIndex.init)
  }

  /// Removes what was read; the addresses and their classes stay, and the next reading looks every class up.
  mutating func forgetPaths() {
    for family in indexes.indices {
      for position in indexes[family].paths.indices { indexes[family].paths[position] = EnginePathInterner.none }
    }
    for id in classes.indices {
      classes[id]?.path = EnginePathInterner.none
      classes[id]?.isUniform = false
      markAffected(ForwardingClassID(id))
    }
  }

  // MARK: - Classes

  /// The class of an address; nil when it has none.
  func forwardingClass(_ family: Int, at position: Int) -> ForwardingClass? {
    let id = indexes[family].classes[position]
    return id < 0 ? nil : classes[Int(id)]
  }

  /// The path of an address in the last reading; negative before the first.
  func path(_ family: Int, at position: Int) -> PathID {
    guard let owner = forwardingClass(family, at: position), owner.isUniform else {
      return indexes[family].paths[position]
    }
    return owner.path
  }

  /// Adds classes to those that the next reading looks up.
  mutating func markAffected(_ id: ForwardingClassID) {
    guard classes[Int(id)]?.isAffected == false else { return }
    classes[Int(id)]?.isAffected = true
    affected.append(id)
  }

  mutating func markAllAffected() {
    for id in classes.indices { markAffected(ForwardingClassID(id)) }
  }

  /// Removes and returns the classes to look up; those without an answer are returned by ``postpone(_:)``.
  mutating func takeAffected() -> [ForwardingClassID] {
    defer { affected = [] }
    return affected
  }

  /// Leaves a class to be looked up by the next reading.
  mutating func postpone(_ id: ForwardingClassID) { affected.append(id) }

  func forEachMember(of id: ForwardingClassID, _ prefix: IPPrefix, _ body: (EngineTargetAddressIndex, Int) -> Void) {
    let index = indexes[prefix.address.family.index]
    for position in index.range(of: prefix)
    where index.classes[position] == id && index.targets[position] != EngineTargetAddressIndex.removed {
      body(index, position)
    }
  }

  /// Ends the uniformity of a class: copies its path to the columns of its members.
  mutating func endUniformity(_ id: ForwardingClassID, _ debouncer: inout Debouncer) {
    guard let owner = classes[Int(id)], owner.isUniform else { return }
    classes[Int(id)]?.isUniform = false
    let family = owner.prefix.address.family.index
    for position in indexes[family].range(of: owner.prefix) where indexes[family].classes[position] == id {
      setPath(owner.path, family, at: position, &debouncer)
    }
  }

  mutating func endUniformity(_ debouncer: inout Debouncer) {
    for id in classes.indices { endUniformity(ForwardingClassID(id), &debouncer) }
  }

  private mutating func setPath(_ path: PathID, _ family: Int, at position: Int, _ debouncer: inout Debouncer) {
    let target = indexes[family].targets[position]
    guard target != EngineTargetAddressIndex.removed else { return }
    indexes[family].paths[position] = path
    debouncer.setReported(path, of: target)
  }

  // MARK: - Membership

  /// Assigns addresses to the classes of their longest prefixes: all, or those without a class.
  mutating func classify(_ family: Int, onlyNew: Bool, _ debouncer: inout Debouncer) {
    guard let prefixes, indexes[family].hasUnclassified || !onlyNew else { return }
    indexes[family].hasUnclassified = false
    for position in indexes[family].addresses.indices {
      let old = indexes[family].classes[position]
      guard old == EngineTargetAddressIndex.unclassified || !onlyNew && old >= 0 else { continue }
      let prefix = prefixes.longest(covering: indexes[family].address(at: position))
      move(family, position, to: prefix, &debouncer)
    }
  }

  /// Moves an address to the class of a prefix.
  mutating func move(_ family: Int, _ position: Int, to prefix: IPPrefix, _ debouncer: inout Debouncer) {
    let old = indexes[family].classes[position]
    let new = id(of: .init(prefix: prefix, transport: hasTransportRules ? indexes[family].transports[position] : nil))
    guard new != old else { return }
    if old >= 0, let left = classes[Int(old)], left.isUniform { setPath(left.path, family, at: position, &debouncer) }
    endUniformity(new, &debouncer)
    indexes[family].classes[position] = new
    classes[Int(new)]?.hasNewMembers = true
    markAffected(new)
    // The answer for the old class may have been that of this address.
    if old >= 0, classes[Int(old)]?.query?.destination == indexes[family].address(at: position) { markAffected(old) }
  }

  private mutating func id(of key: ForwardingClass.Key) -> ForwardingClassID {
    if let id = ids[key] { return id }
    let id: ForwardingClassID
    if let reused = freeIDs.popLast() {
      id = reused
    } else {
      id = ForwardingClassID(classes.count)
      classes.append(nil)
    }
    classes[Int(id)] = ForwardingClass(key)
    ids[key] = id
    return id
  }

  mutating func remove(_ id: ForwardingClassID) {
    guard let key = classes[Int(id)]?.key else { return }
    ids[key] = nil
    classes[Int(id)] = nil
    freeIDs.append(id)
  }

  // MARK: - Paths

  /// All path identifiers in use.
  var usedPaths: [[PathID]] { [indexes[0].paths, indexes[1].paths, classes.compactMap { $0?.path }] }

  /// Replaces all identifiers after ``EnginePathInterner/compact(keeping:)``.
  mutating func mapPaths(_ transform: (PathID) -> PathID) {
    for family in indexes.indices { indexes[family].paths = indexes[family].paths.map(transform) }
    for id in classes.indices {
      if let path = classes[id]?.path { classes[id]?.path = transform(path) }
    }
  }
}

extension IPAddress.Family {
  /// The position of the family in ``ForwardingClasses/indexes``.
  var index: Int { self == .ipv4 ? 0 : 1 }
}
