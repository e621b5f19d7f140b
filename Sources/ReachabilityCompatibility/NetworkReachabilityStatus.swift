internal import NetworkReachability

extension NetworkReachabilityManager {
  /// What is known about reaching a target.
  public enum NetworkReachabilityStatus: Hashable, Sendable {
    /// Not known, because the kernel could not be asked.
    case unknown
    /// Not reachable.
    case notReachable
    /// Reachable over this kind of connection.
    case reachable(ConnectionType)

    /// The kinds of connection that are told apart.
    public enum ConnectionType: Sendable {
      /// Everything that is not cellular.
      case ethernetOrWiFi
      /// Cellular.
      case cellular

      /// Alamofire 4's name of ``cellular``.
      @available(*, deprecated, renamed: "cellular")
      public static var wwan: ConnectionType { .cellular }
    }

    /// The status that a set of flags means, by Alamofire's rule; never unknown.
    public init(_ flags: SCNetworkReachabilityFlags) {
      self.init(ReachabilityStatus(flags))
    }

    init(_ status: ReachabilityStatus) {
      switch status {
      case .unknown: self = .unknown
      case .notReachable: self = .notReachable
      case .reachable(.ethernetOrWiFi): self = .reachable(.ethernetOrWiFi)
      case .reachable(.wwan): self = .reachable(.cellular)
      }
    }
  }
}
