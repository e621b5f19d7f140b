internal import CNetlink
internal import Glibc
internal import ReachabilityModel

// What connect(2) does beyond one lookup.
extension NetlinkQuerySocket {
  /// The answer for a connection from another port, when the selected leg of a multipath route has no carrier and another one
  /// has; nil when there is none.
  ///
  /// With `fib_multipath_hash_policy` 1 the kernel selects a leg by the ports, too, and each connection has another source
  /// port. With other policies every port has the same leg.
  func answerOfAnotherLeg(_ answer: RouteAnswer, to query: RouteQuery) throws(KernelError) -> RouteAnswer? {
    guard case .route(let route) = answer, route.isSelectedLegDown, !route.hops.allSatisfy(\.isLinkDown) else {
      return nil
    }
    var bound = query
    // IPv4 selects the leg with the source.
    if query.destination.family == .ipv4 { bound.source = query.source ?? route.source }
    let lookups = Limits.multipathPorts.map { port in
      var lookup = NetlinkRouteLookup(query: bound)
      lookup.sourcePort = port
      return lookup
    }
    return try answered(lookups).lazy.map(\.answer).first { other in
      if case .route(let other) = other { !other.isSelectedLegDown } else { false }
    }
  }

  /// What follows the kernel's first lookup.
  enum SecondLookup {
    /// The first answer is final.
    case none
    /// A lookup with this source address.
    case from(IPAddress)
    /// The kernel has made the second lookup, and refused.
    case refused(RouteAnswer.Refusal)
  }

  func secondLookup(after answer: RouteAnswer, to query: RouteQuery, _ rules: NetlinkRuleSelectors)
    -> SecondLookup
  {
    switch (query.destination.family, answer) {
    case (_, .refused(.failed)): return .none
    case (.ipv4, .route(let route)) where query.source == nil:
      // The kernel looks for a source among the routes of type local in the table of this name only.
      let isLocalElsewhere = route.type == .local && route.table != UInt32(RT_TABLE_LOCAL.rawValue)
      guard rules.contains(.ipv4Source) || route.selectsByDestination || isLocalElsewhere, let source = route.source
      else { return .none }
      return .from(source)
    // The first lookup was made without the source (``NetlinkRouteLookup``).
    case (.ipv6, _) where query.source != nil && query.interfaceIndex != nil:
      return query.source.map { .from($0) } ?? .none
    // connect(2) refuses link-local addresses without an interface for a reason of its own.
    case (.ipv6, .refused(let first))
    where query.source == nil && !query.destination.isLinkLocal && !query.destination.isMulticast:
      switch selection(for: query, rules) {
      case .source(let source): return .from(source)
      // IPv6 reports a missing and an unreachable route alike, as connections do.
      case .refused(EACCES): return .refused(.prohibited)
      case .refused(EINVAL): return .refused(.blackhole)
      case .refused(EHOSTUNREACH) where first == .noRoute: return .refused(.unreachable)
      case .refused, .unavailable, nil: return .none
      }
    default: return .none
    }
  }

  /// The source address of a connection that the kernel has refused without one.
  private func selection(
    for query: RouteQuery, _ rules: NetlinkRuleSelectors
  ) -> NetlinkSourceAddressLookup.Selection? {
    // A socket for another port may have another answer.
    if rules.contains(.transport), let selection = sources?.newConnection(for: query, rules),
      selection != .unavailable
    {
      return selection
    }
    return sources?.selection(towards: query.destination, through: query.interfaceIndex)
  }

  /// The answer to both lookups of a query.
  ///
  /// With a source, IPv6 treats the interface as a preference, unless the socket is bound to it. Only such a socket shows what
  /// the kernel decides. The answers describe the route, if one of them uses the interface.
  func combined(
    _ first: RouteAnswer, _ second: RouteAnswer, to query: RouteQuery, _ rules: NetlinkRuleSelectors
  ) -> RouteAnswer {
    guard query.destination.family == .ipv6, let index = query.interfaceIndex else {
      if case .refused(.failed) = second { return first }
      return second
    }
    let routes = [second, first].filter { $0.found?.takenInterface == index }
    switch sources?.newConnection(for: query, rules) {
    case .source(let source):
      if let route = routes.first { return route }
      let link = Route(
        prefix: IPPrefix(query.destination, length: query.destination.family.bitCount), table: 0,
        hops: [.init(interfaceIndex: index)], source: source)
      return .route(link)
    case .refused(EACCES): return .refused(.prohibited)
    case .refused(EINVAL): return .refused(.blackhole)
    case .refused(EHOSTUNREACH): return .refused(.unreachable)
    case .refused: return .refused(.noRoute)
    case .unavailable, nil: return routes.first ?? first
    }
  }
}

extension Route {
  /// The interface of the next hop that the kernel selects.
  fileprivate var takenInterface: UInt32? { hops.indices.contains(taken) ? hops[taken].interfaceIndex : nil }

  /// Whether the leg that the kernel selects for this destination has no carrier, of several.
  fileprivate var isSelectedLegDown: Bool {
    hops.count > 1 && hops.indices.contains(taken) && hops[taken].isLinkDown
  }
}
