internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// One query to the routing tables and the two answers that are combined.
///
/// The kernel answers in two forms. With `RTM_F_FIB_MATCH` it shows the matching route: its block, its actual device,
/// all next hops, carrier loss and its lifetime. That answer has no source address, and no next hops of nexthop objects
/// when `nexthop_compat_mode` is 0. Without the flag the kernel shows what a packet would do: one next hop and the
/// source address.
///
/// A kernel that does not know the flag refuses the first form (gVisor, `parseForDestination` in
/// pkg/sentry/socket/netlink/route/protocol.go). Then only the second one counts.
struct NetlinkRouteLookup {
  enum Answer {
    case route(NetlinkRouteMessage)
    case refused(NetlinkAck)
  }

  let query: RouteQuery
  /// Whether an IPv6 request with an interface contains the source too.
  let sendsBoundSource: Bool
  /// The source port of the packets; 0 for none.
  var sourcePort: UInt16 = 0
  var match: Answer?
  /// What a packet would do.
  var plain: Answer?
  /// Whether refusals have the kernel's text.
  var hasErrorTexts = true

  init(query: RouteQuery, sendsBoundSource: Bool = false) {
    self.query = query
    self.sendsBoundSource = sendsBoundSource
  }

  /// The source address in the request.
  ///
  /// With a source, IPv6 treats the interface only as a preference (`ip6_route_output_flags_noref` in
  /// net/ipv6/route.c), but a socket that is bound to an interface cannot leave through another one. So the first of two
  /// requests has the interface only.
  private var source: IPAddress? {
    query.destination.family == .ipv6 && query.interfaceIndex != nil && !sendsBoundSource ? nil : query.source
  }

  /// The number in the IP header.
  private var protocolNumber: UInt8 {
    switch query.transport?.protocol {
    case .tcp, nil: UInt8(IPPROTO_TCP)
    case .udp: UInt8(IPPROTO_UDP)
    case .icmp: query.destination.family == .ipv4 ? UInt8(IPPROTO_ICMP) : UInt8(IPPROTO_ICMPV6)
    }
  }

  /// Adds the two requests, numbered `sequence` and `sequence + 1`.
  func append(to request: inout NetlinkRequest, sequence: UInt32) {
    // IPv4 reports table 254 for every table unless the actual one is requested; IPv6 always reports the actual one,
    // and refuses the flag.
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
        // Rules may match the protocol and the port, and IPv6 selects among several next hops by the protocol.
        message.attribute(Int(RTA_IP_PROTO.rawValue), protocolNumber)
        if let port = query.transport?.port, port > 0 {
          message.attribute(Int(RTA_DPORT.rawValue), port.bigEndian)
        }
        if sourcePort > 0 { message.attribute(Int(RTA_SPORT.rawValue), sourcePort.bigEndian) }
        if let source { message.attribute(Int(RTA_SRC.rawValue), source) }
        if let index = query.interfaceIndex { message.attribute(Int(RTA_OIF.rawValue), index) }
      }
    }
  }

  /// The answer in the model's terms.
  var answer: RouteAnswer {
    switch (match, plain) {
    case (.refused(let ack), .route(let plain)) where ack.errno == EOPNOTSUPP: plainAnswer(plain.route)
    case (.refused(let ack), .refused(let plain)) where ack.errno == EOPNOTSUPP: .refused(refusal(plain))
    case (.route(let match), .route(let plain)): merged(match.route, plain.route)
    case (.route(let match), _): merged(match.route, nil)
    case (.refused(let ack), .route(let plain)) where isMulticastDestination(plain.route, ack):
      multicastAnswer(plain.route)
    case (.refused(let ack), .route(let plain)) where isAssumed(plain.route, ack): assumedAnswer(plain.route)
    case (.refused(let ack), _): .refused(refusal(ack))
    case (nil, _): .refused(.failed(errno: ENODATA))
    }
  }

  /// Whether the kernel has reported the next hop only, and not the route.
  var isRouteUnknown: Bool {
    guard case .refused(let ack) = match, case .route = plain else { return false }
    return ack.errno == EOPNOTSUPP
  }

  /// The answer of a kernel that reports the next hop only.
  private func plainAnswer(_ plain: Route) -> RouteAnswer {
    // Such a kernel ignores the interface of a lookup.
    if let index = query.interfaceIndex, plain.hops.first?.interfaceIndex != index { return .refused(.noRoute) }
    var route = plain
    route.source = query.source ?? plain.source
    // The block of the route is not known, so each destination needs a lookup of its own.
    route.selectsByDestination = plain.type == .unicast
    return .route(route)
  }

  /// Whether the refused destination is a multicast group or the limited broadcast address, which need no route.
  ///
  /// Packets to them leave through the interface that the sender selects, by its index or its address (ip(7)).
  private func isMulticastDestination(_ plain: Route, _ ack: NetlinkAck) -> Bool {
    ack.errno == EHOSTUNREACH && [.multicast, .broadcast].contains(plain.type)
  }

  private func multicastAnswer(_ plain: Route) -> RouteAnswer {
    var route = plain
    route.source = query.source ?? plain.source
    return .route(route)
  }

  /// Whether the kernel has no route, or one that rejects the destination, and assumes that the destination is on the link of
  /// the lookup's interface (`ip_route_output_key_hash_rcu` in net/ipv4/route.c).
  private func isAssumed(_ plain: Route, _ ack: NetlinkAck) -> Bool {
    ack.errno == EHOSTUNREACH && query.interfaceIndex != nil && query.destination.family == .ipv4
      && plain.type == .unicast && plain.hops.first?.gateway == nil
  }

  private func assumedAnswer(_ plain: Route) -> RouteAnswer {
    var route = plain
    route.source = query.source ?? plain.source
    route.isAssumed = true
    return .route(route)
  }

  private func merged(_ match: Route, _ plain: Route?) -> RouteAnswer {
    switch match.type {
    case .blackhole: return .refused(.blackhole)
    case .unreachable: return .refused(.unreachable)
    case .prohibit: return .refused(.prohibited)
    default: break
    }
    // The kernel sends to groups directly, even if their addresses match a route with a gateway.
    if var plain, [.multicast, .broadcast].contains(plain.type) {
      // The plain answer has the destination for its block.
      (plain.prefix, plain.table) = (match.prefix, match.table)
      return multicastAnswer(plain)
    }
    var route = match
    // A route without next hops uses a nexthop object, which may be a group.
    route.selectsByDestination = match.type == .unicast && match.hops.count != 1
    if route.hops.isEmpty { route.hops = plain?.hops ?? [] }
    // Of several next hops the plain answer has the one that the kernel selects for this destination, and its source.
    if route.hops.count > 1, let chosen = plain?.hops.first,
      let index = route.hops.firstIndex(where: {
        $0.interfaceIndex == chosen.interfaceIndex && $0.gateway == chosen.gateway
      })
    {
      route.taken = index
    }
    route.preferredSource = match.source
    // The kernel does not repeat a source address that the request contained.
    route.source = query.source ?? plain?.source ?? match.source
    return .route(route)
  }

  private func refusal(_ ack: NetlinkAck) -> RouteAnswer.Refusal {
    switch ack.errno {
    case ENETUNREACH, ENODEV: .noRoute
    case EHOSTUNREACH: .unreachable
    case EACCES: .prohibited
    // A blackhole has no error text; a request that the kernel does not understand has one.
    case EINVAL where ack.text == nil && hasErrorTexts: .blackhole
    // Of a family that the kernel does not have (IPv6 switched off), and gVisor's refusal without a route.
    case EOPNOTSUPP: .noRoute
    default: .failed(errno: ack.errno)
    }
  }
}
