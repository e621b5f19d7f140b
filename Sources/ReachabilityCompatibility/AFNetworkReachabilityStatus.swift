public import Foundation
internal import NetworkReachability

/// The reachability of a target, with AFNetworking's raw values.
public enum AFNetworkReachabilityStatus: Int, Sendable {
  /// Unknown: monitoring has not begun, or the lookup failed.
  case unknown = -1
  /// Not reachable.
  case notReachable = 0
  /// Reachable over a cellular connection.
  case reachableViaWWAN = 1
  /// Reachable over any other connection.
  case reachableViaWiFi = 2

  init(_ status: ReachabilityStatus) {
    switch status {
    case .unknown: self = .unknown
    case .notReachable: self = .notReachable
    case .reachable(.wwan): self = .reachableViaWWAN
    case .reachable(.ethernetOrWiFi): self = .reachableViaWiFi
    }
  }
}

extension Notification.Name {
  /// Posted on the main queue when a manager's status changes, and once at each start; the object is the manager.
  public static let AFNetworkingReachabilityDidChange = Notification.Name(
    "com.alamofire.networking.reachability.change")
}

/// The key of the status in the user info of `AFNetworkingReachabilityDidChange`: an `Int`, the raw value.
public let AFNetworkingReachabilityNotificationStatusItem = "AFNetworkingReachabilityNotificationStatusItem"

/// The description of a status in the language of this process's environment.
public func AFStringFromNetworkReachabilityStatus(_ status: AFNetworkReachabilityStatus) -> String {
  AFNetworkReachabilityLanguage(environment: ProcessInfo.processInfo.environment).description(of: status)
}
