// Whether the source of a target is an address of this machine.
extension ReachabilityTarget {
  /// Whether an interface has the source address, so that a socket can be bound to it.
  ///
  /// This is checked here because the kernel checks the source of IPv4 lookups only.
  /// An interface that is down keeps its IPv4 addresses (the weak host model, RFC 1122 §3.3.4.2), and its IPv6 addresses with
  /// `keep_addr_on_down` or when they were added while it was down. The addresses of a VRF belong to sockets that are bound to it or to a
  /// member (ip-vrf(8)).
  func hasOwnSource(in tables: KernelTables) -> Bool {
    guard let source, !source.isLoopback else { return true }
    let vrf = vrfIndex(in: tables)
    return tables.owners(of: source).contains { entry in
      entry.isUsable && tables.interface(entry.interfaceIndex)?.vrfIndex == vrf
    }
  }

  /// The lookup that finds out whether a source that no interface has is an address of this machine anyway; nil when it is
  /// not needed.
  ///
  /// An IPv4 socket can also be bound to the addresses of a block with a route of type `local`
  /// (`ip route add local 192.0.2.0/24 dev lo`); an IPv6 socket cannot.
  func sourceQuery(in tables: KernelTables) -> RouteQuery? {
    guard let source, source.family == .ipv4, !source.isUnspecified, !hasOwnSource(in: tables) else { return nil }
    return RouteQuery(source, interfaceIndex: vrfIndex(in: tables))
  }

  /// The VRF of the requested interface.
  private func vrfIndex(in tables: KernelTables) -> UInt32? {
    interface.flatMap { tables.interface(scope: $0) }?.vrfIndex
  }
}
