extension Reachability {
  /// The kinds of connection.
  public enum Connection: CustomStringConvertible, Sendable {
    /// No connection.
    case unavailable
    /// Any connection that is not cellular.
    case wifi
    /// Cellular.
    case cellular

    /// The older name of ``unavailable``.
    @available(*, deprecated, renamed: "unavailable")
    public static var none: Connection { .unavailable }

    /// `Cellular`, `WiFi` or `No Connection`.
    public var description: String {
      switch self {
      case .cellular: "Cellular"
      case .wifi: "WiFi"
      case .unavailable: "No Connection"
      }
    }
  }

  /// Whether there is a connection.
  @available(*, deprecated, message: "Use `connection != .unavailable`.")
  public var isReachable: Bool { connection != .unavailable }

  /// Whether the connection is cellular.
  @available(*, deprecated, message: "Use `connection == .cellular`.")
  public var isReachableViaWWAN: Bool { connection == .cellular }

  /// Whether there is a connection that is not cellular.
  @available(*, deprecated, message: "Use `connection == .wifi`.")
  public var isReachableViaWiFi: Bool { connection == .wifi }

  /// The description of the connection.
  @available(*, deprecated, renamed: "connection.description")
  public var currentReachabilityString: String { connection.description }
}
