public import Foundation
internal import NetworkReachability

/// The kinds of connection of Apple's sample, with its raw values.
///
/// They differ from those of tonymillion/Reachability, where Wi-Fi is 2 and WWAN is 1.
public enum NetworkStatus: Int, Sendable {
  /// No connection.
  case notReachable = 0
  /// Any connection that is not cellular.
  case reachableViaWiFi = 1
  /// A cellular connection.
  case reachableViaWWAN = 2
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Apple's spelling of `NetworkStatus.notReachable`.
public let NotReachable = NetworkStatus.notReachable

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Apple's spelling of `NetworkStatus.reachableViaWiFi`.
public let ReachableViaWiFi = NetworkStatus.reachableViaWiFi

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Apple's spelling of `NetworkStatus.reachableViaWWAN`.
public let ReachableViaWWAN = NetworkStatus.reachableViaWWAN

// The Swift names of Apple's sample and of tonymillion/Reachability that do not conflict with Reachability.swift, whose
// `startNotifier` throws and returns no Bool.
extension Reachability {
  /// A reachability of the default path, with its name in Swift 2.
  public static func reachabilityForInternetConnection() -> Reachability { Reachability(.default) }

  /// A reachability of the default path, with its name since Swift 3; never nil on Linux.
  public static func forInternetConnection() -> Reachability? { Reachability(.default) }

  /// A reachability of the local network, with its name in Swift 2.
  ///
  /// It is reachable through any usable wired or Wi-Fi interface with an address, with or without a default route.
  public static func reachabilityForLocalWiFi() -> Reachability { Reachability(.localLink) }

  /// A reachability of the local network, with its name since Swift 3; never nil on Linux.
  public static func forLocalWiFi() -> Reachability? { Reachability(.localLink) }

  /// A reachability of a host, with its name in Swift 2; nil for the empty text.
  public static func reachabilityWithHostName(_ hostName: String) -> Reachability? { Reachability(hostName: hostName) }

  /// A reachability of a host, with its name since Swift 3; nil for the empty text.
  public convenience init?(hostName: String) {
    guard let target = ReachabilityTarget(anyHost: hostName) else { return nil }
    self.init(target)
  }

  /// A reachability of an IPv4 address; 0.0.0.0 is the default path, 169.254.0.0 the local network.
  ///
  /// For an IPv6 address, pass its text to ``init(hostName:)``.
  public convenience init(address: sockaddr_in) { self.init(ReachabilityTarget(address)) }

  /// The present status.
  public func currentReachabilityStatus() -> NetworkStatus {
    switch connection {
    case .unavailable: .notReachable
    case .wifi: .reachableViaWiFi
    case .cellular: .reachableViaWWAN
    }
  }

  /// The present flags; none when the lookup failed.
  public func reachabilityFlags() -> SCNetworkReachabilityFlags { watched.flags ?? [] }

  /// Whether a connection must be established first, by the present flags.
  public func connectionRequired() -> Bool { reachabilityFlags().contains(.connectionRequired) }

  /// Whether a connection must be established first, by the present flags.
  public func isConnectionRequired() -> Bool { connectionRequired() }

  /// Whether a connection must be established first and is established on traffic or on demand, by the present flags.
  public func isConnectionOnDemand() -> Bool {
    let flags = reachabilityFlags()
    return flags.contains(.connectionRequired) && flags.canConnectAutomatically
  }

  /// Whether a connection must be established first with a user action, by the present flags.
  public func isInterventionRequired() -> Bool {
    reachabilityFlags().isSuperset(of: [.connectionRequired, .interventionRequired])
  }

  /// The present flags, one letter each: `-R -------`.
  public func currentReachabilityFlags() -> String {
    reachabilityFlags().compactDescription(.reachabilitySwift)
  }
}
