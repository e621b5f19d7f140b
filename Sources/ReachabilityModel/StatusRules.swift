/// Derives verdicts from the kernel's answers: pure rules over one reading.
///
/// The flags follow Apple's SCNetworkReachability as far as Linux reports the same facts.
package enum StatusRules {
  /// The subject of a verdict, where rules differ by it.
  package enum Subject: Hashable, Sendable {
    case address
    /// The default path: routes to this machine and link-local sources do not count.
    case defaultPath
  }

  /// Evaluates the kernel's answer to one lookup.
  package static func evaluate(
    _ answer: RouteAnswer, to query: RouteQuery, as subject: Subject = .address, in tables: KernelTables
  ) -> NetworkPath {
    switch answer {
    case .refused(.noRoute): .none(.noRoute)
    case .refused(.unreachable): .none(.unreachableRoute)
    case .refused(.blackhole): .none(.blackhole)
    case .refused(.prohibited): .none(.prohibited)
    case .refused(.failed): .unknown(.kernelUnavailable)
    case .route(let route): evaluate(route, for: query, as: subject, in: tables)
    }
  }

  private static func evaluate(
    _ route: Route, for query: RouteQuery, as subject: Subject, in tables: KernelTables
  ) -> NetworkPath {
    switch route.type {
    case .unicast: evaluateNextHops(of: route, for: query, as: subject, in: tables)
    case .broadcast, .multicast: subject == .address ? evaluateGroup(route, in: tables) : .none(.noRoute)
    // An IPv6 anycast address is local to this machine, on whichever interface it is configured.
    case .local, .anycast: subject == .address ? evaluateLocal(route, in: tables) : .none(.noRoute)
    case .blackhole: .none(.blackhole)
    case .unreachable: .none(.unreachableRoute)
    case .prohibit: .none(.prohibited)
    default: .none(.noRoute)
    }
  }

  /// Evaluates a broadcast or multicast address: datagrams may leave, but no connection can be made (connect(2) fails with
  /// ENETUNREACH).
  private static func evaluateGroup(_ route: Route, in tables: KernelTables) -> NetworkPath {
    var path = NetworkPath.none(.notUnicast)
    let nextHop = route.hops.indices.contains(route.taken) ? route.hops[route.taken] : nil
    path.describe(route, nextHop: nextHop, interface: nextHop.flatMap { tables.interface($0.interfaceIndex) })
    return path
  }

  /// Evaluates a local address.
  ///
  /// This machine answers for it regardless of the state of the device that owns it (the weak host model, RFC 1122
  /// §3.3.4.2), as long as the loopback device, which carries the packets, is up.
  private static func evaluateLocal(_ route: Route, in tables: KernelTables) -> NetworkPath {
    let loopbackIsUp = tables.interfaces.contains { $0.flags.isSuperset(of: [.loopback, .up]) }
    guard loopbackIsUp else { return .none(.noRoute) }
    let interface = route.hops.first.flatMap { tables.interface($0.interfaceIndex) }
    var path = NetworkPath(flags: [.reachable, .isLocalAddress])
    if let interface, interface.type != .loopback { path.flags.insert(.isDirect) }
    path.describe(route, nextHop: nil, interface: interface)
    path.source = route.source
    return path
  }

  /// Evaluates the next hops of a route.
  ///
  /// For an address, only the next hop that the kernel selects counts. For a default path it is the first one that can
  /// pass packets, otherwise the one with the highest rank, because other destinations use other next hops.
  private static func evaluateNextHops(
    of route: Route, for query: RouteQuery, as subject: Subject, in tables: KernelTables
  ) -> NetworkPath {
    var best = NetworkPath.none(.noRoute)
    for (position, nextHop) in route.hops.enumerated() where subject == .defaultPath || position == route.taken {
      guard let interface = tables.interface(nextHop.interfaceIndex) else { continue }
      var route = route
      // The kernel reported the source for the next hop that it selects.
      if position != route.taken {
        let found = route.preferredSource ?? source(through: nextHop, like: query.destination, in: tables)
        route.source = found ?? route.source
      }
      let path = evaluate(nextHop, through: interface, of: route, for: query, as: subject, in: tables)
      if path.rank > best.rank { best = path }
      if best.status.isReachable { break }
    }
    return best
  }

  /// The source that the kernel most likely selects for a next hop: not deprecated, and in the router's network
  /// (`inet_select_addr` in net/ipv4/devinet.c; RFC 6724).
  private static func source(
    through nextHop: Route.NextHop, like destination: IPAddress, in tables: KernelTables
  ) -> IPAddress? {
    let candidates = tables.usableAddresses(of: nextHop.interfaceIndex).filter {
      $0.address.family == destination.family && !$0.address.isLinkLocal && !$0.address.isLoopback
    }
    func rank(_ entry: InterfaceAddress) -> Int {
      let isBeside = nextHop.gateway.map { entry.prefix.block.contains($0) } ?? false
      return (entry.flags.contains(.deprecated) ? 0 : 2) + (isBeside ? 1 : 0)
    }
    let best = candidates.map(rank).max()
    return candidates.first { rank($0) == best }?.address
  }

  private static func evaluate(
    _ nextHop: Route.NextHop, through interface: Interface, of route: Route, for query: RouteQuery, as subject: Subject,
    in tables: KernelTables
  ) -> NetworkPath {
    // A route through the loopback device does not leave this machine.
    if subject == .defaultPath, interface.type == .loopback || route.isAssumed { return .none(.noRoute) }
    // Addresses of this machine have routes of type `local`; a unicast route through `lo` reaches no host.
    if interface.type == .loopback, route.type == .unicast, !query.destination.isLoopback { return .none(.noRoute) }
    // For a lookup bound to an interface, the kernel looks for a loopback address among that interface's routes, and
    // finds the default route. Such packets never leave the machine (RFC 1122 §3.2.1.3).
    if query.interfaceIndex != nil, query.destination.isLoopback, interface.type != .loopback {
      return .none(.noRoute)
    }
    // IsWWAN is kept when the cellular link is down, as Apple does.
    let kept: ReachabilityFlags = interface.isWWAN ? .isWWAN : []
    var path = NetworkPath(flags: kept)
    path.describe(route, nextHop: nextHop, interface: interface)
    switch interface.usability {
    case .adminDown:
      // The kernel flushes these routes; an answer that still has one is about to become invalid.
      return .none(.noRoute)
    case .linkDown:
      path.reason = .linkDown
    case .usable where nextHop.isLinkDown:
      path.reason = .linkDown
    case .dormant:
      path.flags = kept.union([.reachable, .connectionRequired, .transientConnection])
      // A dormant dial-up link waits for traffic (RFC 2863 §3.1.12).
      if interface.type == .ppp { path.flags.insert(.connectionOnTraffic) }
      path.reason = path.status.isReachable ? nil : .connectionRequired
    case .usable:
      let source = query.source ?? route.source
      guard let source, isUsable(source, for: query, through: nextHop, as: subject, in: tables) else {
        path.reason = .noSource
        return path
      }
      path.source = source
      path.flags = kept.union(usableFlags(of: route, through: interface))
    }
    return path
  }

  private static func usableFlags(of route: Route, through interface: Interface) -> ReachabilityFlags {
    var flags: ReachabilityFlags = .reachable
    if interface.isTransient { flags.insert(.transientConnection) }
    if interface.type == .loopback { flags.insert(.isLocalAddress) }
    let noRouter = route.hops.allSatisfy { $0.gateway == nil }
    if noRouter, !interface.flags.contains(.pointToPoint) { flags.insert(.isDirect) }
    return flags
  }

  /// Whether a packet with this source can be answered: packets with loopback or link-local sources do not leave the
  /// machine or the link (RFC 1122 §3.2.1.3, RFC 3927 §2.7, RFC 4291 §2.5.6).
  private static func isUsable(
    _ source: IPAddress, for query: RouteQuery, through nextHop: Route.NextHop, as subject: Subject,
    in tables: KernelTables
  ) -> Bool {
    let destination = query.destination
    if source.isUnspecified { return false }
    if source.isLoopback { return destination.isLoopback }
    // The kernel selects a deprecated IPv6 address only if there is no other (RFC 6724 §5, rule 3), and the network
    // that assigned it has withdrawn it (RFC 4862 §5.5.4). Packets may leave, but the path is not reliable, so it is a
    // default path only if the caller requests that source address.
    let isOurChoice = subject == .defaultPath && source.family == .ipv6 && query.source == nil
    let owners = isOurChoice ? tables.owners(of: source) : []
    if !owners.isEmpty, owners.allSatisfy({ $0.flags.contains(.deprecated) }) { return false }
    guard source.isLinkLocal, !destination.isLinkLocal, !destination.isMulticast else { return true }
    return subject == .address && nextHop.gateway == nil
  }
}

extension NetworkPath {
  /// Sets the properties that come from the route.
  fileprivate mutating func describe(_ route: Route, nextHop: Route.NextHop?, interface: Interface?) {
    self.interface = interface.map(InterfaceReference.init)
    gateway = nextHop?.gateway
    prefix = route.prefix
    routeType = route.type
  }
}
