internal import ReachabilityModel

/// The differences between the interfaces of two readings, and their causes.
struct InterfaceDifference {
  /// One interface that was added, removed or changed.
  struct Entry: Equatable {
    var state: InterfaceState
    var removed: Bool
    var causes: Set<Cause>
  }

  /// The interfaces that differ; removed ones come first, so that no two interfaces have the same name at any time.
  private(set) var entries: [Entry] = []
  /// The interfaces to publish: the previous state where no published field differs, so that a snapshot changes only with
  /// a transition.
  private(set) var states: [InterfaceState] = []

  /// The causes of all entries.
  var causes: Set<Cause> { entries.reduce(into: []) { $0.formUnion($1.causes) } }

  /// No differences.
  init(none states: [InterfaceState]) { self.states = states }

  init(from old: [InterfaceState], to new: [InterfaceState]) {
    let before = Dictionary(uniqueKeysWithValues: old.map { ($0.interface.index, $0) })
    let after = Dictionary(uniqueKeysWithValues: new.map { ($0.interface.index, $0) })
    /// The lower device is published by name, which may change or disappear.
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
      guard !previous.hasSamePublishedFields(as: state) || !hasSameLower(state) else {
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
    // A link that goes down also loses its carrier; that is one cause, not two.
    let (hadCarrier, hasCarrier) = (old.interface.usability == .usable, new.interface.usability == .usable)
    if wasUp, isUp, hadCarrier != hasCarrier { causes.insert(hasCarrier ? .carrierGained : .carrierLost) }
    let (before, after) = (Set(old.addresses), Set(new.addresses))
    if !after.isSubset(of: before) { causes.insert(.addressAdded) }
    if !before.isSubset(of: after) { causes.insert(.addressRemoved) }
    return causes
  }
}

extension InterfaceState {
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
