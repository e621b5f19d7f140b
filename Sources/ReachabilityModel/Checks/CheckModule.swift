/// A named check configuration: the protocol, its options and the expectations for the answer.
///
/// The names of the built-in modules, and of most fields, are those of blackbox_exporter.
public struct CheckModule: Hashable, Sendable {
  /// The name: `tcp_connect`, `http_2xx`, or a name of the configuration.
  public var name: String
  /// The protocol and its options.
  public var options: Options
  /// The address family that is used when the caller does not choose one.
  public var family: CheckAddressFamily
  /// Which addresses of a host must answer.
  public var addresses: CheckAddressSelection
  /// The targets for which a caller may use it.
  public var access: ModuleAccess

  /// The options of each protocol; indirect, because every target and request has a copy, and the options are large.
  public indirect enum Options: Hashable, Sendable {
    /// A route lookup.
    case route
    /// A TCP connection.
    case tcp(TCPOptions)
    /// ICMP echo.
    case icmp(ICMPOptions)
    /// One HTTP request; over TLS when the target says `https`.
    case http(HTTPOptions)
    /// A TLS handshake.
    case tls(TLSOptions)
    /// One DNS query.
    case dns(DNSOptions)
  }

  /// Creates a module.
  public init(
    name: String, options: Options, family: CheckAddressFamily = .any, addresses: CheckAddressSelection = .any,
    access: ModuleAccess = .configuredTargets
  ) {
    self.name = name
    self.options = options
    self.family = family
    self.addresses = addresses
    self.access = access
  }

  /// Whether this module applies to targets of that scheme.
  public func fits(_ scheme: CheckTarget.Scheme) -> Bool {
    switch (options, scheme) {
    case (.route, .route), (.tcp, .tcp), (.icmp, .icmp), (.tls, .tls), (.dns, .dns): true
    case (.http, .http), (.http, .https): true
    default: false
    }
  }

  /// The built-in modules; a configuration may redefine them.
  public static let builtIn: [CheckModule] = [
    CheckModule(name: "route", options: .route),
    CheckModule(name: "tcp_connect", options: .tcp(TCPOptions())),
    CheckModule(name: "icmp", options: .icmp(ICMPOptions())),
    CheckModule(name: "http_2xx", options: .http(HTTPOptions())),
    CheckModule(name: "https_2xx", options: .http(HTTPOptions())),
    CheckModule(name: "tls_connect", options: .tls(TLSOptions())),
    CheckModule(name: "dns_udp", options: .dns(DNSOptions())),
  ]

  /// The built-in module that a scheme uses by default.
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

/// Which addresses of a host a check contacts, and how many must answer.
///
/// Addresses are contacted in the resolver's order, at most sixteen, except those without a route.
public enum CheckAddressSelection: String, Hashable, Sendable, CaseIterable {
  /// The first one that can be contacted; the next one is tried 250 ms after the last one, or when that failed (RFC 8305).
  case any
  /// Only the first one with a route.
  case first
  /// Every one, and each must pass the check.
  ///
  /// An address family without any route is left out.
  case all
}

/// The address families of a name that are checked.
public enum CheckAddressFamily: String, Hashable, Sendable, CaseIterable {
  /// Both families, IPv6 before IPv4 in the resolver's order.
  case any
  /// IPv4 only.
  case ipv4 = "4"
  /// IPv6 only.
  case ipv6 = "6"
}

/// A TCP connection, optionally with a short dialogue.
public struct TCPOptions: Hashable, Sendable {
  /// The text to send after connecting; nil for none.
  public var send: String?
  /// A regular expression (PCRE2) that the received data must match; nil if connecting is enough.
  public var expect: String?

  /// Creates options for a connection; with `send` and `expect`, for a dialogue.
  public init(send: String? = nil, expect: String? = nil) {
    self.send = send
    self.expect = expect
  }
}

/// The parameters of an ICMP echo check.
public struct ICMPOptions: Hashable, Sendable {
  /// The maximum number of echo requests per check.
  public static let maximumCount = 100
  /// The largest payload in bytes: an IPv4 packet of 1,500 bytes.
  public static let largestPayload = 1_472

  /// The number of echo requests, 1…100.
  public var count: Int
  /// The time between two requests.
  public var spacing: Duration
  /// Payload bytes per request, 0…1,472.
  public var payloadBytes: Int
  /// The tolerated loss ratio, 0…1; a higher one is `down` with `packetLoss`.
  ///
  /// By default only the loss of all requests counts.
  public var maximumLoss: Double
  /// The longest average round trip; a longer one is `down` with `slow`.
  ///
  /// Nil for no limit.
  public var maximumRoundTrip: Duration?

  /// Creates the parameters of an echo check.
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

  /// The method.
  public var method = "GET"
  /// Fields that are sent in addition to `Host`, `User-Agent` and `Accept`, or that replace them.
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
  /// The bytes of the response's body that are read, at most 1 MiB.
  public var bodyLimit = 1 << 20
  /// The number of redirects that are followed, each one subject to the policy; 0…10.
  public var maximumRedirects = 0
  /// The requirements for the certificate of an `https` target.
  public var tls = TLSOptions()

  /// Creates options for a GET that expects 200…299.
  public init() {}
}

/// A TLS handshake and the requirements for its certificate.
public struct TLSOptions: Hashable, Sendable {
  /// The name in the handshake (RFC 6066 §3) and the certificate; nil for the target's host.
  public var serverName: String?
  /// Whether chain, name and dates must be valid; they are reported in both cases.
  public var verify = true
  /// A PEM file of trusted authorities; nil for the system's.
  public var authorityFile: String?
  /// The minimum remaining validity of the certificate.
  public var minimumValidity: Duration = .zero

  /// Creates options for a handshake that must be fully valid.
  public init() {}
}
