public import Foundation
internal import NetworkReachability

/// The kinds of connection that Apple's sample tells apart, with its numbers.
///
/// They are not those of tonymillion/Reachability, where Wi-Fi is 2 and WWAN 1.
public enum NetworkStatus: Int, Sendable {
  /// None.
  case notReachable = 0
  /// Everything that is not cellular.
  case reachableViaWiFi = 1
  /// Cellular.
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

// What Apple's sample and tonymillion/Reachability had, as Swift spelled it, where Reachability.swift has not taken the
// name: `startNotifier` throws here and returns no Bool.
extension Reachability {
  /// A reachability of the default path, as Swift 2 spelled it.
  public static func reachabilityForInternetConnection() -> Reachability { Reachability(.default) }

  /// A reachability of the default path, as Swift 3 and later spell it; never nil on Linux.
  public static func forInternetConnection() -> Reachability? { Reachability(.default) }

  /// A reachability of the local network, as Swift 2 spelled it.
  ///
  /// It is there with any wired or Wi-Fi interface that passes packets and has an address, with or without a way out.
  public static func reachabilityForLocalWiFi() -> Reachability { Reachability(.localLink) }

  /// A reachability of the local network, as Swift 3 and later spell it; never nil on Linux.
  public static func forLocalWiFi() -> Reachability? { Reachability(.localLink) }

  /// A reachability of a host, as Swift 2 spelled it; nil for what is no host, such as a URL.
  public static func reachabilityWithHostName(_ hostName: String) -> Reachability? { Reachability(hostName: hostName) }

  /// A reachability of a host, as Swift 3 and later spell it; nil for what is no host, such as a URL.
  public convenience init?(hostName: String) {
    guard let target = try? ReachabilityTarget(host: hostName) else { return nil }
    self.init(target)
  }

  /// A reachability of an IPv4 address; 0.0.0.0 is the default path, 169.254.0.0 the local network.
  ///
  /// For an IPv6 address give its text to ``init(hostName:)``.
  public convenience init(address: sockaddr_in) { self.init(ReachabilityTarget(address)) }

  /// The status of this moment.
  public func currentReachabilityStatus() -> NetworkStatus {
    switch connection {
    case .unavailable: .notReachable
    case .wifi: .reachableViaWiFi
    case .cellular: .reachableViaWWAN
    }
  }

  /// The flags of this moment; none when the kernel could not be asked.
  public func reachabilityFlags() -> SCNetworkReachabilityFlags { watched.flags ?? [] }

  /// Whether a connection must be made first, by the flags of this moment.
  public func connectionRequired() -> Bool { reachabilityFlags().contains(.connectionRequired) }

  /// Whether a connection must be made first, by the flags of this moment.
  public func isConnectionRequired() -> Bool { connectionRequired() }

  /// Whether a connection must be made first and any traffic or a request makes it, by the flags of this moment.
  public func isConnectionOnDemand() -> Bool {
    let flags = reachabilityFlags()
    return flags.contains(.connectionRequired) && flags.canConnectAutomatically
  }

  /// Whether a connection must be made first and a person must help, by the flags of this moment.
  public func isInterventionRequired() -> Bool {
    reachabilityFlags().isSuperset(of: [.connectionRequired, .interventionRequired])
  }

  /// The flags of this moment, one letter each: `-R -------`.
  public func currentReachabilityFlags() -> String {
    reachabilityFlags().compactDescription(.reachabilitySwift)
  }
}
