/// What an active check is aimed at: `tcp://db:5432`, `icmp://10.0.0.1`, `https://api/health`, `dns://10.0.0.53/name`.
public struct CheckTarget: Hashable, Sendable {
  /// How it is asked.
  public enum Scheme: String, Hashable, Sendable, CaseIterable {
    /// The way to the host alone: no packet is sent.
    case route
    /// A TCP connection (RFC 9293), perhaps with a dialogue.
    case tcp
    /// ICMP echo (RFC 792, RFC 4443).
    case icmp
    /// One HTTP request (RFC 9110).
    case http
    /// One HTTP request over TLS.
    case https
    /// A TLS handshake (RFC 8446, RFC 5246).
    case tls
    /// One DNS question (RFC 1035).
    case dns

    /// The port that the scheme stands for; nil where one must be given, or there is none.
    public var defaultPort: UInt16? {
      switch self {
      case .http: 80
      case .https: 443
      case .dns: 53
      case .route, .tcp, .icmp, .tls: nil
      }
    }

    /// Whether there are ports at all.
    public var hasPort: Bool { self != .route && self != .icmp }
  }

  /// How it is asked.
  public var scheme: Scheme
  /// Who is asked: a name, an address, or one of the tokens that ``ReachabilityTarget/init(host:source:interface:)`` knows.
  public var host: ReachabilityTarget
  /// The port that is asked; nil where the scheme has none.
  public var port: UInt16?
  /// `http`, `https`: path and query as they are sent, beginning with a slash.
  ///
  /// Empty otherwise.
  public var pathAndQuery: String
  /// `dns`: what is asked; nil otherwise.
  public var question: DNSQuestion?

  /// A target from its parts, which are not checked.
  public init(
    _ scheme: Scheme, host: ReachabilityTarget, port: UInt16? = nil, pathAndQuery: String = "",
    question: DNSQuestion? = nil
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.pathAndQuery = pathAndQuery
    self.question = question
  }
}

/// A question to a DNS server (RFC 1035 §4.1.2), class IN.
public struct DNSQuestion: Hashable, Sendable {
  /// The types of records that can be asked for (RFC 1035 §3.2.2, RFC 3596, RFC 2782, RFC 8659).
  public enum RecordType: UInt16, Hashable, Sendable, CaseIterable {
    /// IPv4 addresses.
    case a = 1
    /// Name servers.
    case ns = 2
    /// The canonical name.
    case cname = 5
    /// The start of authority.
    case soa = 6
    /// The name behind an address.
    case ptr = 12
    /// Mail exchangers.
    case mx = 15
    /// Texts.
    case txt = 16
    /// IPv6 addresses.
    case aaaa = 28
    /// Services.
    case srv = 33
    /// Which authorities may issue certificates.
    case caa = 257

    /// The type as zone files write it: `A`, `AAAA`.
    public var name: String { "\(self)".uppercased() }

    /// The type of this name, in capitals or not; nil for one that cannot be asked for.
    public init?(_ name: String) {
      guard let type = Self.allCases.first(where: { $0.name == name.uppercased() }) else { return nil }
      self = type
    }
  }

  /// The name that is asked about, without a final dot; empty for the root.
  public var name: String
  /// The type of record.
  public var type: RecordType

  /// A question.
  public init(name: String, type: RecordType = .a) {
    self.name = name
    self.type = type
  }
}
