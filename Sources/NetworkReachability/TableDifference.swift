internal import ReachabilityModel

/// What changed between the interfaces of two readings, and what that means as causes.
struct TableDifference {
  /// One interface that appeared, went or changed.
  struct Entry: Equatable {
    var state: InterfaceState
    var removed: Bool
    var causes: Set<Cause>
  }

  /// The interfaces that differ, by index; those that went come first, so that a name is never held twice.
  private(set) var entries: [Entry] = []
  /// The interfaces as they are shown now: as before, where nothing that we show differs, so that a snapshot changes with
  /// a transition only.
  private(set) var states: [InterfaceState] = []

  /// Every cause of every entry.
  var causes: Set<Cause> { entries.reduce(into: []) { $0.formUnion($1.causes) } }

  /// Nothing changed.
  init(none states: [InterfaceState]) { self.states = states }

  init(from old: [InterfaceState], to new: [InterfaceState]) {
    let before = Dictionary(uniqueKeysWithValues: old.map { ($0.interface.index, $0) })
    let after = Dictionary(uniqueKeysWithValues: new.map { ($0.interface.index, $0) })
    /// The device beneath is shown by its name, which it may change, or lose.
    func hasSameLower(_ state: InterfaceState) -> Bool {
      guard let lower = state.interface.lowerIndex else { return true }
      return before[lower]?.interface.name == after[lower]?.interface.name
    }
    for state in old where after[state.interface.index] == nil {
      entries.append(Entry(state: state, removed: true, causes: [.linkDown]))
    }
    for state in new {
      guard let previous = before[state.interface.index] else {
        let causes: Set<Cause> = state.interface.flags.contains(.up) ? [.linkUp] : []
        entries.append(Entry(state: state, removed: false, causes: causes))
        states.append(state)
        continue
      }
      guard !previous.saysTheSame(as: state) || !hasSameLower(state) else {
        states.append(previous)
        continue
      }
      states.append(state)
      entries.append(Entry(state: state, removed: false, causes: Self.causes(from: previous, to: state)))
    }
  }

  private static func causes(from old: InterfaceState, to new: InterfaceState) -> Set<Cause> {
    var causes: Set<Cause> = []
    let (wasUp, isUp) = (old.interface.flags.contains(.up), new.interface.flags.contains(.up))
    if wasUp != isUp { causes.insert(isUp ? .linkUp : .linkDown) }
    // Switching a link off takes its carrier along; that is one cause, not two.
    let (hadCarrier, hasCarrier) = (old.interface.usability == .usable, new.interface.usability == .usable)
    if wasUp, isUp, hadCarrier != hasCarrier { causes.insert(hasCarrier ? .carrierGained : .carrierLost) }
    let (before, after) = (Set(old.addresses), Set(new.addresses))
    if !after.isSubset(of: before) { causes.insert(.addressAdded) }
    if !before.isSubset(of: after) { causes.insert(.addressRemoved) }
    return causes
  }
}

extension InterfaceState {
  /// True when no field that we show differs: flags that mean nothing here (promiscuous, multicast) may.
  fileprivate func saysTheSame(as other: InterfaceState) -> Bool {
    let (mine, theirs) = (interface, other.interface)
    return addresses == other.addresses && mine.name == theirs.name && mine.type == theirs.type
      && mine.flags.contains(.up) == theirs.flags.contains(.up)
      && mine.operationalState == theirs.operationalState && mine.usability == theirs.usability
      && mine.mtu == theirs.mtu && mine.lowerIndex == theirs.lowerIndex && mine.isWWAN == theirs.isWWAN
      && mine.isExpensive == theirs.isExpensive && mine.isConstrained == theirs.isConstrained
  }
}

extension KernelTables {
  /// The interfaces with their usable addresses, as they are shown.
  var interfaceStates: [InterfaceState] {
    let addresses = Dictionary(grouping: addresses.filter(\.isUsable), by: \.interfaceIndex)
    return interfaces.map { interface in
      InterfaceState(interface: interface, addresses: addresses[interface.index]?.map(\.prefix) ?? [])
    }
  }
}
