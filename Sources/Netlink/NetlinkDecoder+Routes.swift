internal import CNetlink
internal import Glibc
internal import ReachabilityModel

// Routes: struct rtmsg of rtnetlink(7).
extension NetlinkDecoder {
  /// The attributes of a route, before they are combined.
  private struct RouteParts {
    var destination: IPAddress?
    var source: IPAddress?
    var gateway: IPAddress?
    var interfaceIndex: UInt32?
    var table: UInt32
    var metric: UInt32 = 0
    var hops: [Route.NextHop] = []
    var expiresIn: Duration?
    var nexthopObject: UInt32?
    var isComplete = true
  }

  /// Decodes the body of `RTM_NEWROUTE` and `RTM_DELROUTE`; nil when it is malformed or of another family.
  static func route(_ body: NetlinkBytes) -> NetlinkRouteMessage? {
    guard let family = body.load(0).flatMap(IPAddress.Family.init), let length: UInt8 = body.load(1),
      let table: UInt8 = body.load(4), let `protocol`: UInt8 = body.load(5), let type: UInt8 = body.load(7),
      let flags: UInt32 = body.load(8)
    else { return nil }
    var parts = RouteParts(table: UInt32(table))
    let isComplete = body.forEachAttribute(from: 12) { type, value in read(type, value, into: &parts) }
    guard isComplete, parts.isComplete else { return nil }
    if parts.hops.isEmpty, let index = parts.interfaceIndex, index != 0 {
      parts.hops = [Route.NextHop(interfaceIndex: index, gateway: parts.gateway, isLinkDown: isDown(flags))]
    }
    let zero = family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6: 0, 0)
    let destination = parts.destination ?? zero
    guard destination.family == family else { return nil }
    let route = Route(
      type: RouteType(rawValue: type), prefix: IPPrefix(destination, length: length), table: parts.table,
      metric: parts.metric, protocol: `protocol`, hops: parts.hops,
      source: parts.source.flatMap { $0.isUnspecified ? nil : $0 }, expiresIn: parts.expiresIn)
    return NetlinkRouteMessage(route: route, nexthopObject: parts.nexthopObject)
  }

  private static func read(_ type: Int, _ value: NetlinkBytes, into parts: inout RouteParts) {
    switch type {
    case Int(RTA_DST.rawValue): parts.destination = value.address
    case Int(RTA_PREFSRC.rawValue): parts.source = value.address
    case Int(RTA_GATEWAY.rawValue): parts.gateway = value.address
    case Int(RTA_VIA.rawValue): parts.gateway = via(value)
    case Int(RTA_OIF.rawValue): parts.interfaceIndex = value.load(0)
    case Int(RTA_TABLE.rawValue): parts.table = value.load(0) ?? parts.table
    case Int(RTA_PRIORITY.rawValue): parts.metric = value.load(0) ?? 0
    case Int(RTA_NH_ID.rawValue): parts.nexthopObject = value.load(0)
    case Int(RTA_CACHEINFO.rawValue): parts.expiresIn = expiry(value)
    case Int(RTA_MULTIPATH.rawValue):
      if let hops = multipath(value) { parts.hops = hops } else { parts.isComplete = false }
    default: break
    }
  }

  /// `struct rtvia`: a gateway of the other family (RFC 5549).
  private static func via(_ value: NetlinkBytes) -> IPAddress? {
    guard let family: UInt16 = value.load(0), family == UInt16(AF_INET) || family == UInt16(AF_INET6) else {
      return nil
    }
    return value.dropFirst(2).address
  }

  /// The lifetime in `struct rta_cacheinfo.rta_expires`: signed ticks of USER_HZ.
  ///
  /// The value is 0 when the route does not expire, or expires in less than one tick. The kernel truncates to whole
  /// ticks and drops the route at most one tick after its expiry: two more ticks ensure that it is gone by then.
  private static func expiry(_ value: NetlinkBytes) -> Duration? {
    guard let ticks: Int32 = value.load(8), ticks != 0 else { return nil }
    return .nanoseconds((Int64(ticks) + (ticks > 0 ? 2 : 0)) * nanosecondsPerTick)
  }

  /// The length of a USER_HZ tick: 10 ms on all but a few Linux architectures.
  private static let nanosecondsPerTick: Int64 = {
    let hertz = sysconf(Int32(_SC_CLK_TCK))
    return 1_000_000_000 / Int64(hertz > 0 ? hertz : 100)
  }()

  /// The sequence of `struct rtnexthop`, each with attributes of its own.
  private static func multipath(_ value: NetlinkBytes) -> [Route.NextHop]? {
    var hops: [Route.NextHop] = []
    var position = 0
    while position < value.count {
      guard let length: UInt16 = value.load(position), length >= 8, let hop = value.slice(position, Int(length)),
        let flags: UInt8 = hop.load(2), let index: UInt32 = hop.load(4)
      else { return nil }
      var next = Route.NextHop(interfaceIndex: index, isLinkDown: isDown(UInt32(flags)))
      let isComplete = hop.forEachAttribute(from: 8) { type, payload in
        switch type {
        case Int(RTA_GATEWAY.rawValue): next.gateway = payload.address
        case Int(RTA_VIA.rawValue): next.gateway = via(payload)
        default: break
        }
      }
      guard isComplete else { return nil }
      hops.append(next)
      position += (Int(length) + 3) & ~3
    }
    return hops
  }

  private static func isDown(_ flags: UInt32) -> Bool {
    flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) != 0
  }
}

// Decodes only the blocks of routes and rules: most of a large table is not needed beyond that.
extension NetlinkDecoder {
  /// The block and the table of `RTM_NEWROUTE` and `RTM_DELROUTE`; nil when the body is malformed or of another family.
  static func routeBlock(_ body: NetlinkBytes) -> RouteChanges.Block? {
    guard let family = body.load(0).flatMap(IPAddress.Family.init), let length: UInt8 = body.load(1),
      let shortTable: UInt8 = body.load(4)
    else { return nil }
    var table = UInt32(shortTable)
    var destination: IPAddress?
    let isComplete = body.forEachAttribute(from: 12) { type, value in
      if type == Int(RTA_TABLE.rawValue) { table = value.load(0) ?? table }
      if type == Int(RTA_DST.rawValue) { destination = value.address }
    }
    guard isComplete, let prefix = block(destination, family, length) else { return nil }
    return RouteChanges.Block(prefix, table: table)
  }

  /// The block of a policy rule (`RTM_NEWRULE`, struct fib_rule_hdr); the whole family if it applies to every
  /// destination.
  static func ruleBlock(_ body: NetlinkBytes) -> RouteChanges.Block? {
    guard let family = body.load(0).flatMap(IPAddress.Family.init), let length: UInt8 = body.load(1) else { return nil }
    var destination: IPAddress?
    body.forEachAttribute(from: 12) { type, value in
      if type == FRA_DST { destination = value.address }
    }
    return block(destination, family, length).map { RouteChanges.Block($0, table: 0) }
  }

  private static func block(_ destination: IPAddress?, _ family: IPAddress.Family, _ length: UInt8) -> IPPrefix? {
    let destination = destination ?? IPAddress(family, number: 0)
    return destination.family == family ? IPPrefix(destination, length: length).block : nil
  }
}
