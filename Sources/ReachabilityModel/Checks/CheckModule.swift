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

/// A TLS handshake and the requirements for its certificate.
public struct TLSOptions: Hashable, Sendable {
  /// The name in the handshake (RFC 6066 §3) and the certificate; nil for that of the field `Host`, or the target's host.
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
