public import NetworkReachability
// What code that was written for the parents names without importing more: the flags. The library's other names, such as
// `NetworkPath` and `ReachabilityTarget`, stay out of its sight.
@_exported public import struct NetworkReachability.ReachabilityFlags

/// Apple's name for the flags; names and bits are Apple's, too (SCNetworkReachability.h).
public typealias SCNetworkReachabilityFlags = ReachabilityFlags

extension SCNetworkReachabilityFlags {
  /// The older name of `connectionOnTraffic`: the same bit.
  public static var connectionAutomatic: SCNetworkReachabilityFlags { .connectionOnTraffic }

  /// True when a connection makes itself, on traffic or on demand.
  var canConnectAutomatically: Bool { !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]) }
}

extension SCNetworkReachabilityFlags {
  /// The connection by the rule of Apple's sample and of Reachability.swift: once reachable, cellular wins over all.
  ///
  /// It differs from Alamofire's and AFNetworking's rule where a cellular connection must still be made by a person.
  public var connection: Reachability.Connection {
    guard contains(.reachable) else { return .unavailable }
    if contains(.isWWAN) { return .cellular }
    let makesItself = canConnectAutomatically && !contains(.interventionRequired)
    return !contains(.connectionRequired) || makesItself ? .wifi : .unavailable
  }

  /// The connection by the rule of Apple's sample for the local Wi-Fi (169.254.0.0): there must be no router in between.
  public var localWiFiConnection: Reachability.Connection {
    isSuperset(of: [.reachable, .isDirect]) ? .wifi : .unavailable
  }

  /// Whether the target is reachable by the rule of tonymillion/Reachability.
  ///
  /// A transient connection that must be made first does not count, and a cellular one only if wanted.
  ///
  /// - Parameter reachableOnWWAN: whether a cellular connection counts.
  /// - Returns: the verdict.
  public func isReachable(reachableOnWWAN: Bool) -> Bool {
    contains(.reachable) && !isSuperset(of: [.connectionRequired, .transientConnection])
      && (reachableOnWWAN || !contains(.isWWAN))
  }
}
