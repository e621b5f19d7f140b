/// The path that traffic would take now, or why there is none: the verdict for one address or one family's default
/// path.
public struct NetworkPath: Hashable, Sendable {
  /// The properties of the path; the status follows from them.
  public var flags: ReachabilityFlags
  /// False until the kernel has answered; the status is unknown then, regardless of the flags.
  public var isKnown: Bool
  /// Why the status is not reachable; nil when it is.
  public var reason: Reason?
  /// The interface that packets leave through; nil when there is none.
  public var interface: InterfaceReference?
  /// The next router; nil when the destination is on the link or there is no path.
  public var gateway: IPAddress?
  /// The source address that packets would have; nil when there is no path.
  public var source: IPAddress?
  /// The block of the route that matched; nil when there is none.
  public var prefix: IPPrefix?
  /// The kind of that route; nil when there is none.
  public var routeType: RouteType?

  /// An interface by its index, name and type at the time of the verdict.
  public struct InterfaceReference: Hashable, Sendable {
    /// The kernel's index.
    public var index: UInt32
    /// The name.
    public var name: String
    /// The type.
    public var type: InterfaceType
    /// Whether traffic is billed by volume, see ``Interface/isExpensive``.
    public var isExpensive: Bool
    /// Whether traffic should be kept low, see ``Interface/isConstrained``.
    public var isConstrained: Bool

    /// Creates a reference to an interface in its current state.
    public init(_ interface: Interface) {
      index = interface.index
      name = interface.name
      type = interface.type
      isExpensive = interface.isExpensive
      isConstrained = interface.isConstrained
    }
  }

  /// Creates a path with flags, and all other properties unset.
  public init(flags: ReachabilityFlags, reason: Reason? = nil) {
    self.flags = flags
    self.reason = reason
    isKnown = true
  }

  /// A path that was not evaluated, for this reason.
  public static func unknown(_ reason: Reason) -> NetworkPath {
    var path = NetworkPath(flags: [], reason: reason)
    path.isKnown = false
    return path
  }

  /// No path, for this reason.
  public static func none(_ reason: Reason) -> NetworkPath {
    NetworkPath(flags: [], reason: reason)
  }

  /// The status, by the rule of ``ReachabilityStatus/init(_:)``.
  public var status: ReachabilityStatus {
    isKnown ? ReachabilityStatus(flags) : .unknown
  }

  /// Whether traffic on this path is billed by volume; false when there is no path.
  public var isExpensive: Bool { interface?.isExpensive ?? false }
  /// Whether traffic on this path should be kept low; false when there is no path.
  public var isConstrained: Bool { interface?.isConstrained ?? false }

  /// The rank of the path; the higher the better.
  ///
  /// 4 reachable, 3 reachable after a connection, 2 a route that is unusable, 1 no route, 0 unknown.
  /// SCNetworkReachability ranks the addresses of a name in the same order.
  public var rank: Int {
    if status.isReachable { return 4 }
    guard isKnown else { return 0 }
    if flags.contains(.reachable) { return 3 }
    return reason == .noRoute || reason == .unknownInterface ? 1 : 2
  }
}

/// The verdict for this machine: the default path of both families.
public struct MachinePath: Hashable, Sendable {
  /// The IPv4 default path.
  public var ipv4: NetworkPath
  /// The IPv6 default path.
  public var ipv6: NetworkPath

  /// Creates a verdict from its two halves.
  public init(ipv4: NetworkPath, ipv6: NetworkPath) {
    self.ipv4 = ipv4
    self.ipv6 = ipv6
  }

  /// The path that represents both: the one with the higher rank, IPv4 on a tie.
  public var leading: NetworkPath { ipv6.rank > ipv4.rank ? ipv6 : ipv4 }

  /// Reachable if either family is.
  public var status: ReachabilityStatus { leading.status }
  /// The flags of the leading family.
  public var flags: ReachabilityFlags { leading.flags }
  /// The reason of the leading family; nil when reachable.
  public var reason: Reason? { leading.reason }
  /// The interface of the leading family's path; nil when there is none.
  public var interface: NetworkPath.InterfaceReference? { leading.interface }
  /// The router of the leading family's path; nil when there is none.
  public var gateway: IPAddress? { leading.gateway }
  /// Whether traffic on the leading family's path is billed by volume.
  public var isExpensive: Bool { leading.isExpensive }
  /// Whether traffic on the leading family's path should be kept low.
  public var isConstrained: Bool { leading.isConstrained }
}
