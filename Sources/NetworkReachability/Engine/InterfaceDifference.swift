internal import ReachabilityModel

/// The differences between the interfaces of two readings, and their causes.
///
/// An interface is identified by its index and its name. One that was renamed is removed and added, so that a client may
/// keep interfaces by name or by index.
struct InterfaceDifference {
  /// One interface that was added, removed or changed.
  struct Entry: Equatable {
    var state: InterfaceState
    var removed: Bool
    /// The present name of the interface whose old name is removed; nil for others.
    var renamedTo: String?
    var causes: Set<Cause>
  }

  /// The interfaces that differ; removed ones come first, so that no two interfaces have the same name or the same index
  /// at any time.
  private(set) var entries: [Entry] = []
  /// The interfaces to publish: the previous state where no published field differs, so that a snapshot changes only with
  /// a transition.
  private(set) var states: [InterfaceState] = []

  var causes: Set<Cause> { entries.reduce(into: []) { $0.formUnion($1.causes) } }

  /// No differences.
  init(none states: [InterfaceState]) { self.states = states }

  init(from old: [InterfaceState], to read: [InterfaceState]) {
    let before = Table(old)
    let after = Table(Self.withoutOutdatedNames(read, before))
    var removed = Table()
    for state in old where after[same: state] == nil {
      removed.insert(state)
      let successor = after[state.interface.index].flatMap { $0.isRenamed(from: state) ? $0 : nil }
      entries.append(
        Entry(
          state: state, removed: true, renamedTo: successor?.interface.name,
          causes: successor == nil ? [.linkDown] : [.renamed]))
    }
    for state in after.inOrder {
      // A stored state may have two interfaces with one index: the removal of one must not be the end of the other.
      let isReplaced = removed[state.interface.index] != nil || removed[state.interface.name] != nil
      let previous = before[same: state]
      if let previous, !isReplaced, previous.hasSamePublishedFields(as: state), before.hasSameLower(state, in: after) {
        states.append(previous)
        continue
      }
      states.append(state)
      let causes =
        previous.map { Self.causes(from: $0, to: state) } ?? Self.causes(ofNew: state, before[state.interface.index])
      entries.append(Entry(state: state, removed: false, causes: causes))
    }
  }

  /// The interfaces without those whose name is out of date.
  ///
  /// Links are read one after the other: a link that was read before it lost its name can have the same name as one that
  /// was read after it got that name. The one that had the name in the last reading has another one now. The event of that
  /// change leads to another reading.
  private static func withoutOutdatedNames(_ read: [InterfaceState], _ before: Table) -> [InterfaceState] {
    var holders: [String: InterfaceState] = [:]
    for state in read {
      if let other = holders[state.interface.name], before[same: other] == nil { continue }
      holders[state.interface.name] = state
    }
    guard holders.count < read.count else { return read }
    return read.filter { holders[$0.interface.name]?.interface.index == $0.interface.index }
  }

  private static func causes(ofNew state: InterfaceState, _ previous: InterfaceState?) -> Set<Cause> {
    guard let previous, state.isRenamed(from: previous) else {
      return state.interface.flags.contains(.up) ? [.linkUp] : []
    }
    return causes(from: previous, to: state).union([.renamed])
  }

  private static func causes(from old: InterfaceState, to new: InterfaceState) -> Set<Cause> {
    var causes: Set<Cause> = []
    let (wasUp, isUp) = (old.interface.flags.contains(.up), new.interface.flags.contains(.up))
    if wasUp != isUp { causes.insert(isUp ? .linkUp : .linkDown) }
    // A link that goes down also loses its carrier; that is one cause, not two.
    let (hadCarrier, hasCarrier) = (old.interface.usability == .usable, new.interface.usability == .usable)
    if wasUp, isUp, hadCarrier != hasCarrier { causes.insert(hasCarrier ? .carrierGained : .carrierLost) }
    let (before, after) = (Set(old.addresses), Set(new.addresses))
    if !after.isSubset(of: before) { causes.insert(.addressAdded) }
    if !before.isSubset(of: after) { causes.insert(.addressRemoved) }
    return causes
  }
}

/// Interfaces by index and by name; of several with the same one, the last.
private struct Table {
  private(set) var inOrder: [InterfaceState] = []
  private var byIndex: [UInt32: InterfaceState] = [:]
  private var byName: [String: InterfaceState] = [:]
  private var identities: [Identity: InterfaceState] = [:]

  private struct Identity: Hashable {
    var index: UInt32
    var name: String

    init(_ state: InterfaceState) { (index, name) = (state.interface.index, state.interface.name) }
  }

  init(_ states: [InterfaceState] = []) {
    for state in states { insert(state) }
  }

  mutating func insert(_ state: InterfaceState) {
    inOrder.append(state)
    byIndex[state.interface.index] = state
    byName[state.interface.name] = state
    identities[Identity(state)] = state
  }

  subscript(index: UInt32) -> InterfaceState? { byIndex[index] }
  subscript(name: String) -> InterfaceState? { byName[name] }
  /// The state with the same index and the same name.
  subscript(same state: InterfaceState) -> InterfaceState? { identities[Identity(state)] }

  /// Whether the lower device of an interface has the same name here and later: it is published by name.
  func hasSameLower(_ state: InterfaceState, in later: Table) -> Bool {
    guard let lower = state.interface.lowerIndex else { return true }
    return self[lower]?.interface.name == later[lower]?.interface.name
  }
}

extension InterfaceState {
  /// Whether this is the same device with another name.
  ///
  /// The kernel does not change these properties of a device. Where they differ, another device has got its index.
  fileprivate func isRenamed(from old: InterfaceState) -> Bool {
    interface.name != old.interface.name && interface.index == old.interface.index
      && interface.kind == old.interface.kind && interface.hardwareType == old.interface.hardwareType
  }

  /// Whether no published field differs; other flags (promiscuous, multicast) may.
  fileprivate func hasSamePublishedFields(as other: InterfaceState) -> Bool {
    let (left, right) = (interface, other.interface)
    return addresses == other.addresses && left.name == right.name && left.type == right.type
      && left.flags.contains(.up) == right.flags.contains(.up)
      && left.operationalState == right.operationalState && left.usability == right.usability
      && left.mtu == right.mtu && left.lowerIndex == right.lowerIndex && left.isWWAN == right.isWWAN
      && left.isExpensive == right.isExpensive && left.isConstrained == right.isConstrained
  }
}

extension KernelTables {
  /// The interfaces with their usable addresses, as they are published.
  var interfaceStates: [InterfaceState] {
    let addresses = Dictionary(grouping: addresses.filter(\.isUsable), by: \.interfaceIndex)
    return interfaces.map { interface in
      InterfaceState(interface: interface, addresses: addresses[interface.index]?.map(\.prefix) ?? [])
    }
  }
}
