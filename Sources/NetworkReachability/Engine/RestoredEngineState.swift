package import ReachabilityModel

/// What an earlier process published last: the first reading is compared with it, so that a restart is not a change.
package struct RestoredEngineState: Equatable, Sendable {
  /// The number of the last transition.
  package var lastNumber: UInt64
  /// The verdict for this machine; nil if it is not known.
  package var machine: MachinePath?
  /// When its status last changed.
  package var since: Timestamp?
  /// The interfaces; nil if they are not known.
  package var interfaces: [InterfaceState]?

  /// Makes a state from its parts.
  package init(lastNumber: UInt64, machine: MachinePath?, since: Timestamp?, interfaces: [InterfaceState]?) {
    self.lastNumber = lastNumber
    self.machine = machine
    self.since = since
    self.interfaces = interfaces
  }

  /// Gives interfaces the indexes that interfaces of the same name have now: a start of the machine may change them.
  mutating func align(with present: [InterfaceState]) {
    guard let interfaces else { return }
    let now = Dictionary(present.map { ($0.interface.name, $0.interface.index) }) { first, _ in first }
    let indexes = Dictionary(interfaces.map { ($0.interface.index, now[$0.interface.name]) }) { first, _ in first }
    let taken = Set(now.values)
    self.interfaces = interfaces.map { state in
      var state = state
      let index = state.interface.index
      // A removed interface must not have the index of another one.
      state.interface.index = (indexes[index] ?? nil) ?? (taken.contains(index) ? .max - index : index)
      state.interface.lowerIndex = state.interface.lowerIndex.map { (indexes[$0] ?? nil) ?? $0 }
      return state
    }
    for family in [\MachinePath.ipv4, \MachinePath.ipv6] {
      guard let name = machine?[keyPath: family].interface?.name, let index = now[name] else { continue }
      machine?[keyPath: family].interface?.index = index
    }
  }
}
