/// Why ``HTTPClient`` got no complete answer.
public struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of failure: an open list, to which new values may be added.
  public struct Reason: Sendable, Hashable, RawRepresentable {
    /// The name of the reason.
    public let rawValue: String

    /// Makes a reason from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The URL, a header or the socket path is not usable; nothing was sent.
    public static let badRequest = Reason(rawValue: "badRequest")
    /// The name of the host could not be resolved.
    public static let notResolved = Reason(rawValue: "notResolved")
    /// No connection: refused, or no route to the host.
    public static let notConnected = Reason(rawValue: "notConnected")
    /// The timeout expired.
    public static let timeout = Reason(rawValue: "timeout")
    /// The body is longer than the caller allows.
    public static let bodyTooLarge = Reason(rawValue: "bodyTooLarge")
    /// The TLS handshake failed, or the certificate is not trusted.
    public static let tls = Reason(rawValue: "tls")
    /// Anything else: the connection broke, or the answer was not HTTP.
    public static let failed = Reason(rawValue: "failed")
  }

  /// The kind of failure.
  public let reason: Reason

  /// The requested URL.
  public let url: String

  /// libcurl's text, or ours if libcurl was not called.
  public let message: String

  /// `url: message`.
  public var description: String { "\(url): \(message)" }
}
