/// Derives the cost of a tunnel from the physical device that carries its packets.
///
/// A tunnel over a modem is cellular traffic, and costs as much. For most tunnels (WireGuard, TUN) the kernel does not
/// report the lower device: it is taken to be the physical device with the best default route, as SCNetworkReachability
/// takes over the flags of the path to the VPN server.
package enum TunnelRules {
  /// The lookups that determine the lower device; none when no physical device has a property to inherit.
  package static func queries(in tables: KernelTables) -> [RouteQuery] {
    let physical = physicalInterfaces(in: tables)
    guard tables.interfaces.contains(where: { $0.type == .tunnel && $0.flags.contains(.up) }),
      physical.contains(where: \.isNotable)
    else { return [] }
    return physical.flatMap { interface in
      IPAddress.Family.allCases.flatMap { StatusRules.defaultQueries($0, interfaceIndex: interface.index) }
    }
  }

  /// The tables with the properties that each tunnel inherits from its lower device.
  package static func applied(to tables: KernelTables, _ answers: [RouteQuery: RouteAnswer]) -> KernelTables {
    guard !queries(in: tables).isEmpty else { return tables }
    let carrier = carrier(in: tables, answers)
    let interfaces = tables.interfaces.map { interface in
      guard interface.type == .tunnel else { return interface }
      guard let underlyingInterface = underlyingInterface(interface, in: tables) ?? carrier else { return interface }
      var tunnel = interface
      tunnel.isWWAN = underlyingInterface.isWWAN
      guard !tunnel.hasDeclaredCost else { return tunnel }
      tunnel.isExpensive = underlyingInterface.isExpensive
      tunnel.isConstrained = underlyingInterface.isConstrained
      return tunnel
    }
    var applied = KernelTables(interfaces: interfaces, addresses: tables.addresses)
    applied.alternativeNames = tables.alternativeNames
    applied.hasTransportRules = tables.hasTransportRules
    return applied
  }

  /// The device at the bottom of a stack; nil if that is a tunnel too.
  private static func underlyingInterface(_ interface: Interface, in tables: KernelTables) -> Interface? {
    var current = interface
    // The loop is bounded, because links are read one by one and may form a cycle.
    for _ in 0..<tables.interfaces.count {
      guard let lower = current.lowerIndex.flatMap({ tables.interface($0) }) else { return nil }
      guard lower.type == .tunnel else { return lower }
      current = lower
    }
    return nil
  }

  private static func physicalInterfaces(in tables: KernelTables) -> [Interface] {
    tables.interfaces.filter { [.ethernet, .wifi, .wwan, .ppp].contains($0.type) && $0.flags.contains(.up) }
  }

  /// The physical interface with the best default route; IPv4 first, because most tunnel servers have IPv4 addresses.
  private static func carrier(in tables: KernelTables, _ answers: [RouteQuery: RouteAnswer]) -> Interface? {
    for family in IPAddress.Family.allCases {
      let candidates = physicalInterfaces(in: tables).compactMap { interface -> (Interface, metric: UInt32)? in
        let queries = StatusRules.defaultQueries(family, interfaceIndex: interface.index)
        guard StatusRules.defaultPath(queries, answers, in: tables).status.isReachable else { return nil }
        let metrics = queries.compactMap { query -> UInt32? in
          guard case .route(let route)? = answers[query] else { return nil }
          return route.metric
        }
        return metrics.min().map { (interface, $0) }
      }
      if let best = candidates.min(by: { $0.metric < $1.metric }) { return best.0 }
    }
    return nil
  }
}

extension Interface {
  /// Whether a tunnel could inherit anything from it.
  fileprivate var isNotable: Bool { isWWAN || isExpensive || isConstrained }
}
