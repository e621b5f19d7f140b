internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// One query to the routing tables and the two answers from which ours is made.
///
/// The kernel answers in two ways. With `RTM_F_FIB_MATCH` it shows the route that matched: its block, its real device,
/// all ways out, carrier loss, its life; but no source address, and no ways out for nexthop objects when
/// `nexthop_compat_mode` is 0. Without, it shows what a packet would do: one way out and the source address.
struct RouteLookup {
  /// An answer as it came.
  enum Answer {
    case route(RouteMessage)
    case refused(NetlinkAck)
  }

  /// What was asked.
  let query: RouteQuery
  /// The route that matched.
  var match: Answer?
  /// What a packet would do.
  var plain: Answer?

  /// The source that the kernel is told.
  ///
  /// With a source, IPv6 takes the interface for a wish (`ip6_route_output_flags_noref` in net/ipv6/route.c), while a socket that
  /// is bound to one cannot leave through another. Whose address the source is has been looked at before.
  private var source: IPAddress? {
    query.destination.family == .ipv6 && query.interfaceIndex != nil ? nil : query.source
  }

  /// Adds the two requests, numbered `sequence` and `sequence + 1`.
  func append(to request: inout NetlinkRequest, sequence: UInt32) {
    // IPv4 says 254 for every table unless asked for the real one; IPv6 always says it, and refuses to be asked.
    let match = RTM_F_FIB_MATCH | (query.destination.family == .ipv4 ? RTM_F_LOOKUP_TABLE : 0)
    for (offset, flags) in [(UInt32(0), UInt32(match)), (1, 0)] {
      request.message(RTM_GETROUTE, sequence: sequence + offset) { message in
        // struct rtmsg: family, dst_len, src_len, tos; table, protocol, scope, type; flags.
        let family = query.destination.family
        message.append(family.rawValue)
        message.append(family.bitCount)
        message.append(source == nil ? UInt8(0) : family.bitCount)
        message.append(UInt8(0))
        message.append(UInt32(0))
        message.append(flags)
        message.attribute(Int(RTA_DST.rawValue), query.destination)
        // IPv6 chooses among several ways by the protocol, too, and rules may name it: we ask for a connection.
        message.attribute(Int(RTA_IP_PROTO.rawValue), UInt8(IPPROTO_TCP))
        if let source { message.attribute(Int(RTA_SRC.rawValue), source) }
        if let index = query.interfaceIndex { message.attribute(Int(RTA_OIF.rawValue), index) }
      }
    }
  }

  /// The answer in the model's terms.
  var answer: RouteAnswer {
    switch (match, plain) {
    case (.route(let match), .route(let plain)): merged(match.route, plain.route)
    case (.route(let match), _): merged(match.route, nil)
    case (.refused(let ack), .route(let plain)) where isMulticastDestination(plain.route, ack):
      multicastAnswer(plain.route)
    case (.refused(let ack), _): .refused(refusal(ack))
    case (nil, _): .refused(.failed(errno: ENODATA))
    }
  }

  /// Groups and the limited broadcast leave without a route through the interface that the sender names, itself or by its
  /// address (ip(7)).
  private func isMulticastDestination(_ plain: Route, _ ack: NetlinkAck) -> Bool {
    ack.errno == EHOSTUNREACH && [.multicast, .broadcast].contains(plain.type)
  }

  private func multicastAnswer(_ plain: Route) -> RouteAnswer {
    var route = plain
    route.source = query.source ?? plain.source
    return .route(route)
  }

  private func merged(_ match: Route, _ plain: Route?) -> RouteAnswer {
    switch match.type {
    case .blackhole: return .refused(.blackhole)
    case .unreachable: return .refused(.unreachable)
    case .prohibit: return .refused(.prohibited)
    default: break
    }
    // To groups the kernel sends at once, though their addresses match the route with a gateway.
    if let plain, [.multicast, .broadcast].contains(plain.type) { return multicastAnswer(plain) }
    var route = match
    // Without hops of its own it uses a nexthop object, which may be a group.
    route.selectsByDestination = match.type == .unicast && match.hops.count != 1
    if route.hops.isEmpty { route.hops = plain?.hops ?? [] }
    // Of several legs the plain answer has the one that the kernel takes for this destination, and the source for it.
    if route.hops.count > 1, let chosen = plain?.hops.first,
      let index = route.hops.firstIndex(where: {
        $0.interfaceIndex == chosen.interfaceIndex && $0.gateway == chosen.gateway
      })
    {
      route.taken = index
    }
    route.preferredSource = match.source
    // The kernel does not repeat a source address that the question named.
    route.source = query.source ?? plain?.source ?? match.source
    return .route(route)
  }

  private func refusal(_ ack: NetlinkAck) -> RouteAnswer.Refusal {
    switch ack.errno {
    case ENETUNREACH, ENODEV: .noRoute
    // Bound to an interface, IPv4 says the same for "no route of its own" as for an unreachable route.
    case EHOSTUNREACH: query.interfaceIndex != nil && query.destination.family == .ipv4 ? .noRoute : .unreachable
    case EACCES: .prohibited
    // A blackhole has no words; a request that the kernel does not understand has.
    case EINVAL where ack.text == nil: .blackhole
    default: .failed(errno: ack.errno)
    }
  }
}
