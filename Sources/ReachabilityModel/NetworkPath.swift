/// The way that traffic would go now, or why there is none: one verdict over one address or one family's default.
public struct NetworkPath: Hashable, Sendable {
  /// What is known about the way; the status follows from these.
  public var flags: ReachabilityFlags
  /// False until the kernel has been asked: then the status is unknown whatever the flags.
  public var isKnown: Bool
  /// Why the status is not reachable; nil when it is.
  public var reason: Reason?
  /// The interface that packets leave through; nil when none does.
  public var interface: InterfaceReference?
  /// The next router; nil when the destination is on the link or there is no way.
  public var gateway: IPAddress?
  /// The own address that packets would carry; nil when there is no way.
  public var source: IPAddress?
  /// The block of the route that decided; nil when there is none.
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
    /// Whether traffic costs by its volume, see ``Interface/isExpensive``.
    public var isExpensive: Bool
    /// Whether traffic is to be kept low, see ``Interface/isConstrained``.
    public var isConstrained: Bool

    /// A reference to an interface as it is now.
    public init(_ interface: Interface) {
      index = interface.index
      name = interface.name
      type = interface.type
      isExpensive = interface.isExpensive
      isConstrained = interface.isConstrained
    }
  }

  /// A path with flags, and everything else unset.
  public init(flags: ReachabilityFlags, reason: Reason? = nil) {
    self.flags = flags
    self.reason = reason
    isKnown = true
  }

  /// A path that was not judged, for this reason.
  public static func unknown(_ reason: Reason) -> NetworkPath {
    var path = NetworkPath(flags: [], reason: reason)
    path.isKnown = false
    return path
  }

  /// No way, for this reason.
  public static func none(_ reason: Reason) -> NetworkPath {
    NetworkPath(flags: [], reason: reason)
  }

  /// The status, by the rule of ``ReachabilityStatus/init(_:)``.
  public var status: ReachabilityStatus {
    isKnown ? ReachabilityStatus(flags) : .unknown
  }

  /// Whether traffic this way costs by its volume; false when there is no way.
  public var isExpensive: Bool { interface?.isExpensive ?? false }
  /// Whether traffic this way is to be kept low; false when there is no way.
  public var isConstrained: Bool { interface?.isConstrained ?? false }

  /// How far a packet comes, the higher the better.
  ///
  /// 4 reachable, 3 after a connection, 2 there is a route but it is unusable, 1 no route, 0 unknown. SCNetworkReachability ranks the addresses of a name like this.
  public var rank: Int {
    if status.isReachable { return 4 }
    guard isKnown else { return 0 }
    if flags.contains(.reachable) { return 3 }
    return reason == .noRoute || reason == .unknownInterface ? 1 : 2
  }
}

/// The verdict over this machine: the default path of both families.
public struct MachinePath: Hashable, Sendable {
  /// The IPv4 default path.
  public var ipv4: NetworkPath
  /// The IPv6 default path.
  public var ipv6: NetworkPath

  /// A verdict from its two halves.
  public init(ipv4: NetworkPath, ipv6: NetworkPath) {
    self.ipv4 = ipv4
    self.ipv6 = ipv6
  }

  /// The half that speaks for the whole: IPv4 when reachable, else IPv6 when reachable, else the one that came
  /// furthest, IPv4 on a tie.
  public var leading: NetworkPath { ipv6.rank > ipv4.rank ? ipv6 : ipv4 }

  /// Reachable if either family is.
  public var status: ReachabilityStatus { leading.status }
  /// The flags of the leading family.
  public var flags: ReachabilityFlags { leading.flags }
  /// The reason of the leading family; nil when reachable.
  public var reason: Reason? { leading.reason }
  /// Whether traffic costs by its volume on the leading family's way.
  public var isExpensive: Bool { leading.isExpensive }
  /// Whether traffic is to be kept low on the leading family's way.
  public var isConstrained: Bool { leading.isConstrained }
}
