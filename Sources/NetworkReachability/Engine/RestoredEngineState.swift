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

  package init(lastNumber: UInt64, machine: MachinePath?, since: Timestamp?, interfaces: [InterfaceState]?) {
    self.lastNumber = lastNumber
    self.machine = machine
    self.since = since
    self.interfaces = interfaces
  }

  /// Gives the paths the indexes that interfaces of the same name have now: a path is published with the name only, and a
  /// start of the machine may change the index.
  mutating func alignPaths(with present: [InterfaceState]) {
    for family in [\MachinePath.ipv4, \MachinePath.ipv6] {
      guard let name = machine?[keyPath: family].interface?.name,
        let state = present.first(where: { $0.interface.name == name })
      else { continue }
      machine?[keyPath: family].interface?.index = state.interface.index
    }
  }
}
