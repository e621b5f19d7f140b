// Code that was written for the original libraries uses the flags, and names of Dispatch and Foundation (`DispatchQueue`,
// `NotificationCenter`, `sockaddr_in`), without a further import. The library's other names are not exported.
@_exported public import Dispatch
@_exported public import Foundation
public import NetworkReachability
@_exported public import struct NetworkReachability.ReachabilityFlags

/// Apple's name for the flags; names and bits are those of SCNetworkReachability.h.
public typealias SCNetworkReachabilityFlags = ReachabilityFlags

extension SCNetworkReachabilityFlags {
  /// The older name of `connectionOnTraffic`, the same bit.
  public static var connectionAutomatic: SCNetworkReachabilityFlags { .connectionOnTraffic }

  var canConnectAutomatically: Bool { !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]) }
}

extension SCNetworkReachabilityFlags {
  /// The connection by the rule of Apple's sample and of Reachability.swift: when reachable, cellular takes precedence.
  ///
  /// The rule of Alamofire and AFNetworking differs for a cellular connection that needs a user action.
  public var connection: Reachability.Connection {
    guard contains(.reachable) else { return .unavailable }
    if contains(.isWWAN) { return .cellular }
    let isAutomatic = canConnectAutomatically && !contains(.interventionRequired)
    return !contains(.connectionRequired) || isAutomatic ? .wifi : .unavailable
  }

  /// The connection by the rule of Apple's sample for the local Wi-Fi (169.254.0.0): the target must be on link.
  public var localWiFiConnection: Reachability.Connection {
    isSuperset(of: [.reachable, .isDirect]) ? .wifi : .unavailable
  }

  /// Whether the target is reachable by the rule of tonymillion/Reachability.
  ///
  /// A transient connection that must be established first does not count; a cellular one counts on request.
  ///
  /// - Parameter reachableOnWWAN: whether a cellular connection counts.
  /// - Returns: whether the target is reachable.
  public func isReachable(reachableOnWWAN: Bool) -> Bool {
    contains(.reachable) && !isSuperset(of: [.connectionRequired, .transientConnection])
      && (reachableOnWWAN || !contains(.isWWAN))
  }
}
