/// A route: the kernel's answer to one lookup, or one entry of its tables (rtnetlink(7), `RTM_NEWROUTE`).
public struct Route: Hashable, Sendable {
  /// What the kernel does with a packet that matches.
  public var type: RouteType
  /// The block the route covers.
  public var prefix: IPPrefix
  /// The routing table, 254 for main, 255 for local.
  public var table: UInt32
  /// `RTA_PRIORITY`: the lower wins among equal prefixes.
  public var metric: UInt32
  /// `RTPROT_*`: who made it; 9 is a router advertisement.
  public var `protocol`: UInt8
  /// The ways out, in the kernel's order; several for multipath, none for blackholes and their like.
  public var hops: [NextHop]
  /// The index of the way out that the kernel takes for the destination that was looked up; 0 unless multipath.
  public var taken = 0
  /// The kernel takes one of several ways out, another perhaps for another destination (multipath, nexthop groups).
  public var selectsByDestination = false
  /// The source address that the kernel would use on the way out that it takes (`RTA_PREFSRC`); nil when it has none.
  public var source: IPAddress?
  /// The source address that the route itself names, for all its ways out; nil when it leaves the choice to the kernel.
  public var preferredSource: IPAddress?
  /// How long the route still lives (`RTA_CACHEINFO`); nil when it does not expire; zero or less when it has expired.
  public var expiresIn: Duration?

  /// A route from its facts.
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

  /// One way out of a route.
  public struct NextHop: Hashable, Sendable {
    /// The interface it leaves through.
    public var interfaceIndex: UInt32
    /// The router it goes to, of either family (`RTA_GATEWAY`, `RTA_VIA`); nil when the destination is on the link.
    public var gateway: IPAddress?
    /// The kernel marks it dead or without carrier (`RTNH_F_DEAD`, `RTNH_F_LINKDOWN`).
    public var isLinkDown: Bool

    /// A way out.
    public init(interfaceIndex: UInt32, gateway: IPAddress? = nil, isLinkDown: Bool = false) {
      self.interfaceIndex = interfaceIndex
      self.gateway = gateway
      self.isLinkDown = isLinkDown
    }
  }
}

/// What a route does: `RTN_*` of `linux/rtnetlink.h`.
///
/// Open, because kernels may add more.
public struct RouteType: RawRepresentable, Hashable, Sendable {
  /// The kernel's number.
  public let rawValue: UInt8
  /// A type from the kernel's number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Towards one host or router.
  public static let unicast = RouteType(rawValue: 1)
  /// To this machine.
  public static let local = RouteType(rawValue: 2)
  /// To everybody on the link.
  public static let broadcast = RouteType(rawValue: 3)
  /// To this machine as one of many (IPv6 anycast).
  public static let anycast = RouteType(rawValue: 4)
  /// To a group.
  public static let multicast = RouteType(rawValue: 5)
  /// Dropped without a word.
  public static let blackhole = RouteType(rawValue: 6)
  /// Refused with host unreachable.
  public static let unreachable = RouteType(rawValue: 7)
  /// Refused as forbidden.
  public static let prohibit = RouteType(rawValue: 8)

  /// The name that `ip route` uses, or `type-N`.
  public var name: String {
    let names = ["", "unicast", "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable", "prohibit"]
    return (1..<names.count).contains(Int(rawValue)) ? names[Int(rawValue)] : "type-\(rawValue)"
  }
}

extension Route {
  /// Whether another destination of the same block could leave by another way or from another address.
  ///
  /// - Parameter hasOneIPv6Source: ``KernelTables/hasOneIPv6Source``.
  /// - Returns: true when each destination must be asked about by itself.
  public func dependsOnDestination(hasOneIPv6Source: Bool) -> Bool {
    if selectsByDestination { return true }
    // A block of own addresses answers from whichever of them was asked.
    if type == .local || type == .anycast { return prefix.length < prefix.address.family.bitCount }
    return prefix.address.family == .ipv6 && !hasOneIPv6Source
  }
}

extension KernelTables {
  /// True when the choice of an IPv6 source address cannot depend on the destination (RFC 6724 §5).
  ///
  /// So it is with one global address, and with several of the same block, interface and preference: the rules that look
  /// at the destination (scope, label, common prefix within the block's length) tie for them.
  public var hasOneIPv6Source: Bool {
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

/// One question to the kernel's routing tables (`RTM_GETROUTE`): which way a packet to this address would go.
public struct RouteQuery: Hashable, Sendable {
  /// Where to.
  public var destination: IPAddress
  /// From which own address, so that rules on the source apply.
  public var source: IPAddress?
  /// Through which interface only.
  public var interfaceIndex: UInt32?

  /// A question.
  public init(_ destination: IPAddress, source: IPAddress? = nil, interfaceIndex: UInt32? = nil) {
    self.destination = destination
    self.source = source
    self.interfaceIndex = interfaceIndex
  }
}

/// The kernel's answer to a ``RouteQuery``.
public enum RouteAnswer: Hashable, Sendable {
  /// There is a way.
  case route(Route)
  /// There is none, and why.
  case refused(Refusal)

  /// Why the kernel refuses a destination, from the errno of the lookup.
  public enum Refusal: Hashable, Sendable {
    /// `ENETUNREACH`: no route, `throw`, or a rule that says unreachable.
    case noRoute
    /// `EHOSTUNREACH`: an unreachable route.
    case unreachable
    /// `EINVAL` without a complaint about the request: a blackhole route or rule.
    case blackhole
    /// `EACCES`: a prohibit route or rule.
    case prohibited
    /// Another errno: the kernel did not answer the question.
    case failed(errno: Int32)
  }
}
