extension StatusRules {
  /// The addresses whose lookups represent the default path of a family: one in each half of its unicast space.
  ///
  /// A lookup of 0.0.0.0 itself does not work: Linux answers "local" regardless of the routes. Two addresses are
  /// needed, because VPN clients split the default route into halves (0.0.0.0/1 and 128.0.0.0/1, 2000::/4 and
  /// 3000::/4), so a route of length zero proves nothing. No packet is sent to them.
  package static func sentinels(_ family: IPAddress.Family) -> [IPAddress] {
    switch family {
    case .ipv4: [IPAddress(ipv4: 0x0000_0001), IPAddress(ipv4: 0x8000_0001)]
    case .ipv6: [IPAddress(ipv6: 0x2000 << 48, 1), IPAddress(ipv6: 0x3000 << 48, 1)]
    }
  }

  /// The lookups behind one family's default path.
  package static func defaultQueries(
    _ family: IPAddress.Family, source: IPAddress? = nil, interfaceIndex: UInt32? = nil
  ) -> [RouteQuery] {
    sentinels(family).map { RouteQuery($0, source: source, interfaceIndex: interfaceIndex) }
  }

  /// One family's default path: the better of its two halves, the lower half on a tie.
  ///
  /// It is reachable if only one half is, because programs can reach addresses in that half.
  package static func defaultPath(
    _ queries: [RouteQuery], _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> NetworkPath {
    halves(queries, answers, in: tables).reduce(nil) { (best: NetworkPath?, path) in
      guard let best, best.rank >= path.rank else { return path }
      return best
    } ?? .unknown(.starting)
  }

  private static func halves(
    _ queries: [RouteQuery], _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> [NetworkPath] {
    queries.compactMap { query in
      answers[query].map { evaluate($0, to: query, as: .defaultPath, in: tables) }
    }
  }

  /// Whether there is a usable local network, which Apple's sample looks up as the address 169.254.0.0.
  ///
  /// It needs a wired or Wi-Fi interface that passes packets and has an IPv4 or a link-local IPv6 address.
  ///
  /// - Parameters:
  ///   - name: the only interface to consider; nil for all.
  ///   - requirement: the interface types to consider.
  ///   - tables: the kernel's interfaces and addresses.
  /// - Returns: the path through the interface with the highest rank, the lowest index on a tie.
  package static func localLink(
    interface name: String? = nil, permitting requirement: InterfaceRequirement = .none, in tables: KernelTables
  ) -> NetworkPath {
    let scope = name.flatMap { tables.interface(scope: $0) }
    if name != nil, scope == nil { return .none(.unknownInterface) }
    var best = NetworkPath.none(.noRoute)
    for interface in tables.interfaces
    where [.ethernet, .wifi].contains(interface.type) && requirement.permits(interface.type)
      && (scope == nil || scope?.index == interface.index)
    {
      let path = localLink(interface, in: tables)
      if path.rank > best.rank { best = path }
    }
    return best
  }

  private static func localLink(_ interface: Interface, in tables: KernelTables) -> NetworkPath {
    var path = NetworkPath(flags: [])
    path.interface = NetworkPath.InterfaceReference(interface)
    let address = tables.usableAddresses(of: interface.index).first {
      $0.address.family == .ipv4 || $0.address.isLinkLocal
    }
    switch interface.usability {
    case .adminDown: return .none(.noRoute)
    case .linkDown: path.reason = .linkDown
    case .dormant:
      path.flags = [.reachable, .connectionRequired, .transientConnection]
      path.reason = .connectionRequired
    case .usable:
      guard let address else {
        path.reason = .noSource
        break
      }
      path.flags = [.reachable, .isDirect]
      path.source = address.address
    }
    return path
  }
}
