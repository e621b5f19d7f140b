/// A route: the kernel's answer to one lookup, or one entry of its tables (rtnetlink(7), `RTM_NEWROUTE`).
public struct Route: Hashable, Sendable {
  /// What the kernel does with a packet that matches.
  public var type: RouteType
  /// The block that the route covers.
  public var prefix: IPPrefix
  /// The routing table, 254 for main, 255 for local.
  public var table: UInt32
  /// `RTA_PRIORITY`: the lowest wins among equal prefixes.
  public var metric: UInt32
  /// `RTPROT_*`: the origin of the route; 9 is a router advertisement.
  public var `protocol`: UInt8
  /// The next hops, in the kernel's order; several for multipath, none for blackhole and similar routes.
  public var hops: [NextHop]
  /// The index of the next hop that the kernel selects for the destination of the lookup; 0 unless multipath.
  public var taken = 0
  /// Whether the kernel selects one of several next hops by destination (multipath, nexthop groups).
  public var selectsByDestination = false
  /// The source address that the kernel selects for its next hop (`RTA_PREFSRC`); nil when it has none.
  public var source: IPAddress?
  /// The preferred source address of the route, for all its next hops; nil when the kernel selects one.
  public var preferredSource: IPAddress?
  /// Whether the kernel has no route, and assumes that the destination is on the link of the interface to which an IPv4 socket
  /// is bound.
  public var isAssumed = false
  /// The remaining lifetime (`RTA_CACHEINFO`); nil when the route does not expire; zero or less when it has expired.
  public var expiresIn: Duration?

  /// Creates a route from its properties.
  public init(
    type: RouteType = .unicast, prefix: IPPrefix, table: UInt32 = 254, metric: UInt32 = 0, protocol: UInt8 = 3,
    hops: [NextHop], source: IPAddress? = nil, expiresIn: Duration? = nil
  ) {
    self.type = type
    self.prefix = prefix
    self.table = table
    self.metric = metric
    self.protocol = `protocol`
    self.hops = hops
    self.source = source
    self.expiresIn = expiresIn
  }

  /// One next hop of a route.
  public struct NextHop: Hashable, Sendable {
    /// The outgoing interface.
    public var interfaceIndex: UInt32
    /// The router, of either family (`RTA_GATEWAY`, `RTA_VIA`); nil when the destination is on the link.
    public var gateway: IPAddress?
    /// Whether the kernel marks it dead or without carrier (`RTNH_F_DEAD`, `RTNH_F_LINKDOWN`).
    public var isLinkDown: Bool

    /// Creates a next hop.
    public init(interfaceIndex: UInt32, gateway: IPAddress? = nil, isLinkDown: Bool = false) {
      self.interfaceIndex = interfaceIndex
      self.gateway = gateway
      self.isLinkDown = isLinkDown
    }
  }
}

/// What a route does: `RTN_*` of `linux/rtnetlink.h`.
///
/// The set is open, because kernels may add types.
public struct RouteType: RawRepresentable, Hashable, Sendable {
  /// The kernel's number.
  public let rawValue: UInt8
  /// Creates a type from the kernel's number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// To one host or router.
  public static let unicast = RouteType(rawValue: 1)
  /// To this machine.
  public static let local = RouteType(rawValue: 2)
  /// To all hosts on the link.
  public static let broadcast = RouteType(rawValue: 3)
  /// To this machine as one of several (IPv6 anycast).
  public static let anycast = RouteType(rawValue: 4)
  /// To a multicast group.
  public static let multicast = RouteType(rawValue: 5)
  /// Silently dropped.
  public static let blackhole = RouteType(rawValue: 6)
  /// Rejected with host unreachable.
  public static let unreachable = RouteType(rawValue: 7)
  /// Rejected as administratively prohibited.
  public static let prohibit = RouteType(rawValue: 8)

  /// The name that `ip route` uses, or `type-N`.
  public var name: String {
    let names = ["", "unicast", "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable", "prohibit"]
    return (1..<names.count).contains(Int(rawValue)) ? names[Int(rawValue)] : "type-\(rawValue)"
  }
}

extension Route {
  /// Whether another destination of the same block could use another next hop or source address.
  ///
  /// - Parameter hasOneIPv6Source: ``KernelTables/hasOneIPv6Source``.
  /// - Returns: true when each destination needs a lookup of its own.
  package func dependsOnDestination(hasOneIPv6Source: Bool) -> Bool {
    if selectsByDestination { return true }
    // In a block of local addresses, each address is its own source.
    if type == .local || type == .anycast { return prefix.length < prefix.address.family.bitCount }
    return prefix.address.family == .ipv6 && !hasOneIPv6Source
  }
}

extension RouteAnswer {
  /// Whether another destination of the same block could get another answer.
  ///
  /// - Parameters:
  ///   - family: the family of the destination.
  ///   - hasOneIPv6Source: ``KernelTables/hasOneIPv6Source``.
  /// - Returns: true when each destination needs a lookup of its own.
  package func dependsOnDestination(_ family: IPAddress.Family, hasOneIPv6Source: Bool) -> Bool {
    switch self {
    case .route(let route): route.dependsOnDestination(hasOneIPv6Source: hasOneIPv6Source)
    case .refused(.failed): false
    // A source-specific route or rule may apply to the source address that another destination selects.
    case .refused: family == .ipv6 && !hasOneIPv6Source
    }
  }
}

extension KernelTables {
  /// Whether the choice of an IPv6 source address cannot depend on the destination (RFC 6724 §5).
  ///
  /// This holds with one global address, and with several of the same block, interface and preference: the rules that
  /// depend on the destination (scope, label, common prefix within the block's length) tie for them.
  package var hasOneIPv6Source: Bool {
    struct Kind: Hashable {
      let index: UInt32
      let block: IPPrefix
      let isDeprecated: Bool
    }
    var global: Set<Kind> = []
    var links: Set<UInt32> = []
    for entry in addresses where entry.address.family == .ipv6 && entry.isUsable && !entry.address.isLoopback {
      if entry.address.isLinkLocal {
        guard links.insert(entry.interfaceIndex).inserted else { return false }
      } else {
        let isDeprecated = entry.flags.contains(.deprecated)
        global.insert(Kind(index: entry.interfaceIndex, block: entry.prefix.block, isDeprecated: isDeprecated))
      }
    }
    return global.count <= 1
  }
}

/// One lookup in the kernel's routing tables (`RTM_GETROUTE`): the route of a packet to this address.
public struct RouteQuery: Hashable, Sendable {
  /// The destination address.
  public var destination: IPAddress
  /// The source address, so that policy rules on the source apply; nil for none.
  public var source: IPAddress?
  /// The only interface to use; nil for any.
  public var interfaceIndex: UInt32?
  /// The protocol and the port, so that policy rules on them apply; nil for a TCP connection without a port.
  public var transport: TransportSelector?

  /// Creates a lookup.
  public init(
    _ destination: IPAddress, source: IPAddress? = nil, interfaceIndex: UInt32? = nil,
    transport: TransportSelector? = nil
  ) {
    self.destination = destination
    self.source = source
    self.interfaceIndex = interfaceIndex
    self.transport = transport
  }
}

/// The kernel's answer to a ``RouteQuery``.
public enum RouteAnswer: Hashable, Sendable {
  /// The route that the kernel selects.
  case route(Route)
  /// There is no route, for this reason.
  case refused(Refusal)

  /// Why the kernel rejects a destination, from the errno of the lookup.
  public enum Refusal: Hashable, Sendable {
    /// `ENETUNREACH`: no route, `throw`, or an unreachable rule.
    case noRoute
    /// `EHOSTUNREACH`: an unreachable route.
    case unreachable
    /// `EINVAL` without an error about the request: a blackhole route or rule.
    case blackhole
    /// `EACCES`: a prohibit route or rule.
    case prohibited
    /// Another errno: the lookup failed.
    case failed(errno: Int32)
  }
}
