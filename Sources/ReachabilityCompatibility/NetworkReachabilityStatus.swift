internal import NetworkReachability

extension NetworkReachabilityManager {
  /// The reachability of a target.
  public enum NetworkReachabilityStatus: Hashable, Sendable {
    /// Unknown, because the lookup failed.
    case unknown
    /// Not reachable.
    case notReachable
    /// Reachable over a kind of connection.
    case reachable(ConnectionType)

    /// The kinds of connection.
    ///
    /// With the trait `Alamofire4` the case is `wwan` and `cellular` the other name, because a `switch` is exhaustive only by
    /// cases.
    public enum ConnectionType: Sendable {
      /// Any connection that is not cellular.
      case ethernetOrWiFi
      #if Alamofire4
        /// Cellular.
        case wwan

        /// Alamofire 5's name of `wwan`.
        public static var cellular: ConnectionType { .wwan }
      #else
        /// Cellular.
        case cellular

        /// Alamofire 4's name of ``cellular``.
        @available(*, deprecated, renamed: "cellular")
        public static var wwan: ConnectionType { .cellular }
      #endif
    }

    /// The status of a set of flags by Alamofire's rule; never unknown.
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
