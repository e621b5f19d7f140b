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

extension CheckModule.Options {
  /// One HTTP request; over TLS when the target says `https`.
  public static func http(_ options: HTTPOptions) -> Self { Self(options) }
}

extension HTTPOptions: CheckOptions {
  package static let prober = "http"
  package static let schemes = [CheckTarget.Scheme.http, .https]
  package static let keys =
    [
      "method", "headers", "body", "expectStatus", "expectBody", "rejectBody", "expectHeaders", "maximumRedirects",
      "hosts", "addresses", "httpVersion", "bodyLimit",
    ] + TLSOptions.own

  package mutating func read(_ fields: inout some CheckOptionFields) {
    let methods = FieldFormat("a method in capitals, such as GET") { text in
      !text.isEmpty && text.utf8.allSatisfy { (0x41...0x5a).contains($0) } ? text : nil
    }
    method = fields.value("method", methods) ?? method
    headers = fields.headers("headers", arePatterns: false)?.map { Field(name: $0, value: $1) } ?? []
    body = fields.value("body", .text)
    expectStatus = fields.list("expectStatus", "[200, \"300-399\"]", of: Self.statusFormat) ?? []
    expectBody = fields.pattern("expectBody")
    rejectBody = fields.pattern("rejectBody")
    expectHeaders = fields.headers("expectHeaders", arePatterns: true)?.map { Field(name: $0, value: $1) } ?? []
    maximumRedirects = fields.value("maximumRedirects", .integer(0...Self.redirectLimit)) ?? maximumRedirects
    bodyLimit = fields.value("bodyLimit", .integer(1...Self.largestBodyLimit)) ?? bodyLimit
    version = fields.value("httpVersion", .choice) ?? version
    tls.read(&fields)
  }

  private static var statusFormat: FieldFormat<ClosedRange<Int>> {
    FieldFormat("a status code from 100 to 599, or a range such as 300-399") { text in
      let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard (1...2).contains(bounds.count), let first = bounds.first ?? nil, let last = bounds.last ?? nil,
        (100...599).contains(first), (first...599).contains(last)
      else { return nil }
      return first...last
    }
  }

  package var sendsConfiguredData: Bool { !headers.isEmpty || body != nil || tls.serverName != nil }

  package var expectsAnswer: Bool { true }

  package var handshake: TLSOptions? { tls }

  package func series(_ result: CheckResult) -> [ProbeSeries] {
    let http = Self.last(result)
    // A redirect that is not followed counts, too.
    let redirects = result.evidence.http.map { $0.redirects + ($0.isRedirect ? 1 : 0) } ?? 0
    let phases: KeyValuePairs = [
      "resolve": result.duration(of: .resolve), "connect": result.duration(of: .connect),
      "tls": result.duration(of: .tls), "processing": result.duration(of: .processing),
      "transfer": result.duration(of: .transfer),
    ]
    return [
      ProbeSeries(
        "probe_http_duration_seconds", "Duration of http request by phase, summed over all redirects", phases: phases),
      ProbeSeries("probe_http_status_code", "Response HTTP status code", Double(http?.status ?? 0)),
      ProbeSeries(
        "probe_http_version", "Returns the version of HTTP of the probe response", Double(http?.version ?? "") ?? 0),
      ProbeSeries("probe_http_redirects", "The number of redirects", Double(redirects)),
      ProbeSeries(
        "probe_http_ssl", "Indicates if SSL was used for the final redirect", result.evidence.tls == nil ? 0 : 1),
      ProbeSeries(
        "probe_http_content_length", "Length of http content response", Double(http.map { $0.contentLength ?? -1 } ?? 0)
      ),
      ProbeSeries(
        "probe_http_uncompressed_body_length", "Length of uncompressed response body", Double(http?.bodyBytes ?? 0)),
      .regexFailure(result.reason == .httpBody),
    ]
  }

  /// The last response; nil if it redirects to a server that did not respond.
  private static func last(_ result: CheckResult) -> CheckResult.HTTP? {
    guard let http = result.evidence.http, http.isRedirect else { return result.evidence.http }
    let isJudged = result.state == .up || result.reason == .httpStatus || result.reason == .httpBody
    return isJudged ? http : nil
  }
}

extension CheckResult {
  /// The head of an HTTP response.
  public struct HTTP: Hashable, Sendable {
    /// The status code of the last response.
    public var status: Int
    /// `1.0`, `1.1`, `2`.
    public var version: String
    /// The number of redirects that were followed.
    public var redirects: Int
    /// The bytes of the body that were read, decoded.
    public var bodyBytes: Int
    /// The value of `Content-Length`; nil when it is absent.
    public var contentLength: Int?
    /// Whether the last response is a redirect, followed or not.
    public var isRedirect: Bool
    /// The value of `Retry-After`; nil when it is absent.
    public var retryAfter: String?

    /// Creates the head of a response.
    public init(
      status: Int, version: String, redirects: Int = 0, bodyBytes: Int = 0, contentLength: Int? = nil,
      isRedirect: Bool = false, retryAfter: String? = nil
    ) {
      self.retryAfter = retryAfter
      self.status = status
      self.version = version
      self.redirects = redirects
      self.bodyBytes = bodyBytes
      self.contentLength = contentLength
      self.isRedirect = isRedirect
    }
  }
}

extension CheckResult.HTTP: CheckEvidence {
  package static let name = "http"

  package var members: KeyValuePairs<String, EvidenceValue> {
    [
      "status": .integer(status), "version": .text(version), "redirects": .integer(redirects),
      "bodyBytes": .integer(bodyBytes),
    ]
  }

  package var summary: String { "status \(status)" + (redirects == 0 ? "" : ", redirects: \(redirects)") }
}
