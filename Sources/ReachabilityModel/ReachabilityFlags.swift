/// The properties of the path to a target, with the names and bits of Apple's `SCNetworkReachabilityFlags`
/// (SCNetworkReachability.h).
public struct ReachabilityFlags: OptionSet, Hashable, Sendable {
  /// The bits that Apple defines.
  public let rawValue: UInt32
  /// Creates flags from Apple's bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Through a transient connection: PPP, cellular, a tunnel.
  public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
  /// A packet can leave towards the target, possibly after a connection is established.
  public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
  /// A connection must be established first.
  public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
  /// As ``connectionRequired``; any traffic establishes it.
  public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
  /// As ``connectionRequired``; it needs user action.
  public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
  /// As ``connectionRequired``; certain APIs establish it on demand.
  public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
  /// The target is an address of this machine.
  public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
  /// The target is on the link, without a router.
  public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
  /// Through a cellular connection; kept when that connection is down.
  public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)

  /// Every flag with its name, in bit order.
  public static let named: [(flag: ReachabilityFlags, name: String)] = [
    (.transientConnection, "transientConnection"), (.reachable, "reachable"),
    (.connectionRequired, "connectionRequired"), (.connectionOnTraffic, "connectionOnTraffic"),
    (.interventionRequired, "interventionRequired"), (.connectionOnDemand, "connectionOnDemand"),
    (.isLocalAddress, "isLocalAddress"), (.isDirect, "isDirect"), (.isWWAN, "isWWAN"),
  ]

  /// The names of the flags that are set, in bit order.
  public var names: [String] {
    Self.named.filter { contains($0.flag) }.map(\.name)
  }
}
