public import ReachabilityModel

/// A scripted network: interfaces, addresses and routes, and the answers to lookups that follow from them.
///
/// Lookups follow the rules of a kernel without policy rules: local addresses first, then the longest prefix, then the lowest
/// metric. A malformed text ends the test, with a message that names the text and the line.
public struct KernelScript: Sendable {
  /// The interfaces.
  public var interfaces: [Interface] = []
  /// The addresses.
  public var addresses: [InterfaceAddress] = []
  /// The routes, of any type; next hops on interfaces that are down do not count.
  public var routes: [Route] = []
  /// Answers that take precedence, to simulate rules and errors; one for a lookup without a protocol and port holds for all.
  public var overrides: [RouteQuery: RouteAnswer] = [:]

  /// A network without interfaces.
  public init() {}

  /// Adds a loopback interface with its addresses, index 1.
  public mutating func addLoopback() {
    interfaces.append(
      Interface(
        index: 1, name: "lo", type: .loopback, flags: [.up, .running, .lowerUp, .loopback], operationalState: .unknown,
        mtu: 65536, hardwareType: 772))
    addresses.append(InterfaceAddress(interfaceIndex: 1, prefix: IPPrefix(IPAddress(ipv4: 0x7f00_0001), length: 8)))
  }

  /// Adds an interface that is up, with addresses written as `10.0.0.5/24`; on-link routes follow from them.
  public mutating func addInterface(
    _ index: UInt32, _ name: String, _ type: InterfaceType = .ethernet, addresses texts: [String] = [],
    file: StaticString = #fileID, line: UInt = #line
  ) {
    let name = ScriptSyntax(file: file, line: line).interfaceName(name)
    interfaces.append(
      Interface(index: index, name: name, type: type, flags: [.up, .running, .lowerUp], operationalState: .up))
    for text in texts { addAddress(text, to: index, file: file, line: line) }
  }

  /// Adds an address written as `10.0.0.5/24`, and its on-link route.
  public mutating func addAddress(
    _ text: String, to index: UInt32, file: StaticString = #fileID, line: UInt = #line
  ) {
    let prefix = ScriptSyntax(file: file, line: line).prefix(text)
    addresses.append(InterfaceAddress(interfaceIndex: index, prefix: prefix))
    routes.append(Route(prefix: prefix.block, hops: [.init(interfaceIndex: index)]))
  }

  /// Adds a default route of the gateway's family.
  public mutating func addDefault(
    via gateway: String, on index: UInt32, metric: UInt32 = 100, file: StaticString = #fileID, line: UInt = #line
  ) {
    let gateway = ScriptSyntax(file: file, line: line).address(gateway, of: "the address of a gateway")
    let any = gateway.family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6: 0, 0)
    routes.append(
      Route(
        prefix: IPPrefix(any, length: 0), metric: metric, hops: [.init(interfaceIndex: index, gateway: gateway)]))
  }

  /// Removes the default routes of a family.
  public mutating func removeDefaults(_ family: IPAddress.Family) {
    routes.removeAll { $0.prefix.length == 0 && $0.prefix.address.family == family }
  }

  /// Changes one interface in place; nothing when there is none of that name.
  public mutating func change(_ name: String, _ body: (inout Interface) -> Void) {
    for index in interfaces.indices where interfaces[index].name == name { body(&interfaces[index]) }
  }

  /// The tables as a reading carries them.
  package var tables: KernelTables {
    var tables = KernelTables(interfaces: interfaces, addresses: addresses)
    tables.hasTransportRules = overrides.keys.contains { $0.transport != nil }
    return tables
  }

  /// The answer to a lookup.
  public func answer(_ query: RouteQuery) -> RouteAnswer {
    var plain = query
    plain.transport = nil
    if let fixed = overrides[query] ?? overrides[plain] { return fixed }
    if let own = addresses.first(where: { $0.address == query.destination }) {
      let prefix = IPPrefix(query.destination, length: query.destination.family.bitCount)
      return .route(
        Route(
          type: .local, prefix: prefix, table: 255, hops: [.init(interfaceIndex: own.interfaceIndex)],
          source: query.destination))
    }
    let candidates = routes.compactMap { route -> Route? in
      guard route.prefix.contains(query.destination) else { return nil }
      var route = route
      let hadHops = !route.hops.isEmpty
      route.hops.removeAll { !isUp($0.interfaceIndex) }
      guard !hadHops || !route.hops.isEmpty else { return nil }
      let isInScope = query.interfaceIndex == nil || route.hops.contains { $0.interfaceIndex == query.interfaceIndex }
      return isInScope ? route : nil
    }
    let best = candidates.min { left, right in
      (right.prefix.length, left.metric) < (left.prefix.length, right.metric)
    }
    guard var route = best else { return .refused(.noRoute) }
    switch route.type {
    case .blackhole: return .refused(.blackhole)
    case .unreachable: return .refused(.unreachable)
    case .prohibit: return .refused(.prohibited)
    default: break
    }
    if route.source == nil { route.source = source(for: query, through: route.hops.first?.interfaceIndex) }
    return .route(route)
  }

  private func isUp(_ index: UInt32) -> Bool {
    interfaces.contains { $0.index == index && $0.flags.contains(.up) }
  }

  private func source(for query: RouteQuery, through index: UInt32?) -> IPAddress? {
    let own = addresses.filter {
      $0.isUsable && $0.address.family == query.destination.family && !$0.address.isLoopback
        && !$0.address.isLinkLocal
    }
    return (own.first { $0.interfaceIndex == index } ?? own.first)?.address
  }
}

extension KernelScript {
  /// The prefixes of all routes and local addresses.
  var blocks: Set<RouteChanges.Block> {
    var blocks = Set(routes.map { RouteChanges.Block($0.prefix.block, table: $0.table) })
    for entry in addresses {
      let own = IPPrefix(entry.address, length: entry.address.family.bitCount)
      blocks.insert(RouteChanges.Block(own, table: 255))
    }
    return blocks
  }

  /// The changes that the kernel would report from another script to this one.
  ///
  /// A changed route is reported by its prefix; changes of interfaces and addresses may affect any route.
  func changes(since old: KernelScript) -> RouteChanges {
    let differing = Set(routes).symmetricDifference(old.routes)
    var changes = RouteChanges(
      blocks: Set(differing.map { RouteChanges.Block($0.prefix.block, table: $0.table) }),
      isAny: interfaces != old.interfaces || addresses != old.addresses || overrides != old.overrides)
    changes.blocks.formUnion(blocks.subtracting(old.blocks))
    return changes
  }
}
