/// A named recipe: how a target is asked and what counts as an answer.
///
/// The names of the built-in ones, and of most fields, are those that users of blackbox_exporter know.
public struct CheckModule: Hashable, Sendable {
  /// The name: `tcp_connect`, `http_2xx`, or what the configuration calls it.
  public var name: String
  /// What is done.
  public var options: Options
  /// Which family is asked when the caller does not say.
  public var family: FamilyChoice
  /// For which targets a caller may use it.
  public var access: ModuleAccess

  /// What is done, by kind.
  public enum Options: Hashable, Sendable {
    /// The kernel is asked for the way.
    case route
    /// A TCP connection.
    case tcp(TCPOptions)
    /// ICMP echo.
    case icmp(ICMPOptions)
    /// One HTTP request; over TLS when the target says `https`.
    case http(HTTPOptions)
    /// A TLS handshake.
    case tls(TLSOptions)
    /// One DNS question.
    case dns(DNSOptions)
  }

  /// A module.
  public init(
    name: String, options: Options, family: FamilyChoice = .any, access: ModuleAccess = .configuredTargets
  ) {
    self.name = name
    self.options = options
    self.family = family
    self.access = access
  }

  /// Whether this recipe is one for a target of that scheme.
  public func fits(_ scheme: CheckTarget.Scheme) -> Bool {
    switch (options, scheme) {
    case (.route, .route), (.tcp, .tcp), (.icmp, .icmp), (.tls, .tls), (.dns, .dns): true
    case (.http, .http), (.http, .https): true
    default: false
    }
  }

  /// The modules that are always there; a configuration may give others the same name.
  public static let builtIn: [CheckModule] = [
    CheckModule(name: "route", options: .route),
    CheckModule(name: "tcp_connect", options: .tcp(TCPOptions())),
    CheckModule(name: "icmp", options: .icmp(ICMPOptions())),
    CheckModule(name: "http_2xx", options: .http(HTTPOptions())),
    CheckModule(name: "https_2xx", options: .http(HTTPOptions())),
    CheckModule(name: "tls_connect", options: .tls(TLSOptions())),
    CheckModule(name: "dns_udp", options: .dns(DNSOptions())),
  ]

  /// The built-in module that a scheme picks when none is named.
  public static func standard(for scheme: CheckTarget.Scheme) -> CheckModule {
    let name =
      switch scheme {
      case .route: "route"
      case .tcp: "tcp_connect"
      case .icmp: "icmp"
      case .http: "http_2xx"
      case .https: "https_2xx"
      case .tls: "tls_connect"
      case .dns: "dns_udp"
      }
    return builtIn.first { $0.name == name } ?? CheckModule(name: name, options: .route)
  }
}

/// Which of a name's addresses are asked.
public enum FamilyChoice: String, Hashable, Sendable, CaseIterable {
  /// The first that can be reached, IPv6 before IPv4 as the resolver orders them.
  case any
  /// IPv4 only.
  case ipv4 = "4"
  /// IPv6 only.
  case ipv6 = "6"
}

/// A TCP connection, and perhaps a short dialogue.
public struct TCPOptions: Hashable, Sendable {
  /// Sent once connected; nil for nothing.
  public var send: String?
  /// A regular expression (PCRE2) that what comes back must match; nil if connecting is enough.
  public var expect: String?

  /// A connection; with `send` and `expect`, a dialogue.
  public init(send: String? = nil, expect: String? = nil) {
    self.send = send
    self.expect = expect
  }
}

/// A number of ICMP echo requests.
public struct ICMPOptions: Hashable, Sendable {
  /// The most echo requests of one check.
  public static let maximumCount = 100
  /// The most bytes of payload: an IPv4 packet of 1,500 bytes.
  public static let largestPayload = 1_472

  /// How many are sent, 1…100.
  public var count: Int
  /// The time between two.
  public var spacing: Duration
  /// Bytes of payload in each, 0…1,472.
  public var payloadBytes: Int
  /// The share of them that may be lost, 0…1; more is `down` with `packetLoss`.
  ///
  /// By default only the loss of all counts.
  public var maximumLoss: Double
  /// The longest average round trip; more is `down` with `slow`.
  ///
  /// Nil for any.
  public var maximumRoundTrip: Duration?

  /// A number of echo requests.
  public init(
    count: Int = 1, spacing: Duration = .milliseconds(100), payloadBytes: Int = 28, maximumLoss: Double = 0.99,
    maximumRoundTrip: Duration? = nil
  ) {
    self.count = count
    self.spacing = spacing
    self.payloadBytes = payloadBytes
    self.maximumLoss = maximumLoss
    self.maximumRoundTrip = maximumRoundTrip
  }
}

/// One HTTP request and what its answer must be.
public struct HTTPOptions: Hashable, Sendable {
  /// A header field.
  public struct Field: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value; in an expectation a regular expression (PCRE2).
    public var value: String

    /// A header field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The most redirects that are followed.
  public static let redirectLimit = 10

  /// The method.
  public var method = "GET"
  /// Sent besides `Host`, `User-Agent` and `Accept`, or in their place.
  public var headers: [Field] = []
  /// The body to send; nil for none.
  public var body: String?
  /// The status codes that count as an answer; empty for 200…299.
  public var expectStatus: [ClosedRange<Int>] = []
  /// A regular expression that the body must match.
  public var expectBody: String?
  /// A regular expression that the body must not match.
  public var rejectBody: String?
  /// Header fields that the answer must have.
  public var expectHeaders: [Field] = []
  /// How many redirects are followed, each checked by the policy again; 0…10.
  public var maximumRedirects = 0
  /// What is asked of the certificate when the target says `https`.
  public var tls = TLSOptions()

  /// A GET that expects 200…299.
  public init() {}
}

/// A TLS handshake and what its certificate must be.
public struct TLSOptions: Hashable, Sendable {
  /// The name in the handshake (RFC 6066 §3) and in the certificate; nil for the target's host.
  public var serverName: String?
  /// Whether chain, name and dates must be right; if not, they are reported all the same.
  public var verify = true
  /// A PEM file of authorities to trust in place of the system's; nil for the system's.
  public var authorityFile: String?
  /// The certificate must be good for at least so much longer.
  public var minimumValidity: Duration = .zero

  /// A handshake that must be right in every respect.
  public init() {}
}
