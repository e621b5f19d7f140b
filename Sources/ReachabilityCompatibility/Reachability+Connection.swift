extension Reachability {
  /// The kinds of connection that are told apart.
  public enum Connection: CustomStringConvertible, Sendable {
    /// None.
    case unavailable
    /// Everything that is not cellular.
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

  /// Whether the connection is any.
  @available(*, deprecated, message: "Use `connection != .unavailable`.")
  public var isReachable: Bool { connection != .unavailable }

  /// Whether the connection is cellular.
  @available(*, deprecated, message: "Use `connection == .cellular`.")
  public var isReachableViaWWAN: Bool { connection == .cellular }

  /// Whether the connection is any but cellular.
  @available(*, deprecated, message: "Use `connection == .wifi`.")
  public var isReachableViaWiFi: Bool { connection == .wifi }

  /// The connection in words.
  @available(*, deprecated, renamed: "connection.description")
  public var currentReachabilityString: String { connection.description }
}
