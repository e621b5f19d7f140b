/// What is known about the way to a target, with the names and bits of Apple's `SCNetworkReachabilityFlags`
/// (SCNetworkReachability.h).
public struct ReachabilityFlags: OptionSet, Hashable, Sendable {
  /// Apple's bits.
  public let rawValue: UInt32
  /// Flags from Apple's bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Through a connection that comes and goes: PPP, cellular, a tunnel.
  public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
  /// A packet can leave towards the target, perhaps after a connection is made.
  public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
  /// A connection must be made first.
  public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
  /// As ``connectionRequired``; any traffic makes it.
  public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
  /// As ``connectionRequired``; a person must do something.
  public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
  /// As ``connectionRequired``; made on demand by certain programs.
  public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
  /// The target is an address of this machine.
  public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
  /// No router in between.
  public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
  /// Over a cellular connection; kept when that connection is down.
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
