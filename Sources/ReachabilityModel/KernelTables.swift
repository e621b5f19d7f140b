/// The kernel's interfaces and addresses at one instant.
package struct KernelTables: Equatable, Sendable {
  /// All interfaces, by ascending index.
  package private(set) var interfaces: [Interface]
  /// All addresses, by interface, then by value, then by prefix length.
  package private(set) var addresses: [InterfaceAddress]
  /// The indexes of interfaces by their alternative names (ip-link(8), `altname`).
  package var alternativeNames: [String: UInt32] = [:]
  /// Whether policy rules select by protocol or port, so that lookups for other ports may have other answers.
  package var hasTransportRules = false

  /// Creates tables from entries in any order.
  ///
  /// If an interface occurs twice, as in a dump that a change interrupted, the later entry counts.
  package init(interfaces: [Interface] = [], addresses: [InterfaceAddress] = []) {
    let latest = Dictionary(interfaces.map { ($0.index, $0) }, uniquingKeysWith: { $1 })
    self.interfaces = latest.values.sorted { $0.index < $1.index }
    self.addresses = addresses.sorted {
      ($0.interfaceIndex, $0.address, $0.prefix.length) < ($1.interfaceIndex, $1.address, $1.prefix.length)
    }
  }

  package func interface(_ index: UInt32) -> Interface? {
    var range = interfaces.startIndex..<interfaces.endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if interfaces[middle].index == index { return interfaces[middle] }
      range = interfaces[middle].index < index ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  package func interface(named name: String) -> Interface? {
    interfaces.first { $0.name == name }
  }

  /// The interface with this name, alternative name or index, all of which are valid zones of an address (RFC 4007 §11.2).
  package func interface(scope: String) -> Interface? {
    interface(named: scope) ?? (alternativeNames[scope] ?? UInt32(scope)).flatMap { interface($0) }
  }

  /// The usable addresses of one interface: those that the kernel can send from.
  package func usableAddresses(of index: UInt32) -> [InterfaceAddress] {
    addresses.filter { $0.interfaceIndex == index && $0.isUsable }
  }

  /// The entries for an address of this machine.
  package func owners(of address: IPAddress) -> [InterfaceAddress] {
    addresses.filter { $0.address == address }
  }
}
