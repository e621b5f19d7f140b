/// The kernel's interfaces and addresses at one instant.
public struct KernelTables: Equatable, Sendable {
  /// All interfaces, by ascending index.
  public private(set) var interfaces: [Interface]
  /// All addresses, by interface and then by value.
  public private(set) var addresses: [InterfaceAddress]

  /// Tables from what was read, in any order.
  public init(interfaces: [Interface] = [], addresses: [InterfaceAddress] = []) {
    self.interfaces = interfaces.sorted { $0.index < $1.index }
    self.addresses = addresses.sorted { ($0.interfaceIndex, $0.address) < ($1.interfaceIndex, $1.address) }
  }

  /// The interface with this index.
  public func interface(_ index: UInt32) -> Interface? {
    var range = interfaces.startIndex..<interfaces.endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if interfaces[middle].index == index { return interfaces[middle] }
      range = interfaces[middle].index < index ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  /// The interface with this name.
  public func interface(named name: String) -> Interface? {
    interfaces.first { $0.name == name }
  }

  /// The usable addresses of one interface: those the kernel would send from.
  public func usableAddresses(of index: UInt32) -> [InterfaceAddress] {
    addresses.filter { $0.interfaceIndex == index && $0.isUsable }
  }

  /// The entries for an address that is our own.
  public func owners(of address: IPAddress) -> [InterfaceAddress] {
    addresses.filter { $0.address == address }
  }
}
