/// One HTTP request and the expectations for its response.
public struct HTTPOptions: Hashable, Sendable {
  /// A header field.
  public struct Field: Hashable, Sendable {
    /// The name of the field.
    public var name: String
    /// The value of the field; in an expectation a regular expression (PCRE2).
    public var value: String

    /// Creates a header field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The maximum number of redirects.
  public static let redirectLimit = 10

  /// The largest limit of the body in bytes: more would need too much memory for a thousand checks.
  public static let largestBodyLimit = 1 << 24

  /// The versions of HTTP that are offered.
  public enum VersionChoice: String, Hashable, Sendable, CaseIterable {
    /// HTTP/2 and HTTP/1.1 over TLS, HTTP/1.1 without it.
    case any
    /// HTTP/1.1 only.
    case http11 = "1.1"
  }

  /// The method.
  public var method = "GET"
  /// Fields that are sent in addition to `Host`, `User-Agent` and `Accept`, or that replace them.
  ///
  /// `Host` also sets the name for TLS. With `Accept-Encoding`, the body of the response is decoded.
  public var headers: [Field] = []
  /// The body to send; nil for none.
  public var body: String?
  /// The status codes that count as success; empty for 200…299.
  public var expectStatus: [ClosedRange<Int>] = []
  /// A regular expression that the body must match.
  public var expectBody: String?
  /// A regular expression that the body must not match.
  public var rejectBody: String?
  /// Header fields that the response must have.
  public var expectHeaders: [Field] = []
  /// The bytes of the response's body that are read, at most ``largestBodyLimit``.
  public var bodyLimit = 1 << 20
  /// The versions of HTTP that are offered.
  public var version = VersionChoice.any
  /// The number of redirects that are followed, each one subject to the policy; 0…10.
  public var maximumRedirects = 0
  /// The requirements for the certificate of an `https` target.
  public var tls = TLSOptions()

  /// Creates options for a GET that expects 200…299.
  public init() {}
}
