/// The target of an active check: `tcp://db:5432`, `icmp://10.0.0.1`, `https://api/health`, `dns://10.0.0.53/name`.
public struct CheckTarget: Hashable, Sendable {
  /// The protocol of the check.
  public var scheme: Scheme
  /// The host: a name, an address, or one of the keywords of ``ReachabilityTarget/init(host:source:interface:)``.
  public var host: ReachabilityTarget
  /// The port; nil where the scheme has none.
  public var port: UInt16?
  /// The path and query of `http` and `https` as they are sent, beginning with a slash.
  ///
  /// Empty for other schemes.
  public var pathAndQuery: String
  /// The question of `dns`; nil for other schemes.
  public var question: DNSQuestion?

  /// Creates a target from its parts, which are not validated.
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
  /// The supported record types (RFC 1035 §3.2.2, RFC 3596, RFC 2782, RFC 8659).
  public enum RecordType: UInt16, Hashable, Sendable, CaseIterable {
    /// IPv4 addresses.
    case a = 1
    /// Name servers.
    case ns = 2
    /// The canonical name.
    case cname = 5
    /// The start of authority.
    case soa = 6
    /// The name of an address.
    case ptr = 12
    /// Mail exchangers.
    case mx = 15
    /// Texts.
    case txt = 16
    /// IPv6 addresses.
    case aaaa = 28
    /// Services.
    case srv = 33
    /// The authorities that may issue certificates.
    case caa = 257

    /// The type as zone files write it: `A`, `AAAA`.
    public var name: String { "\(self)".uppercased() }

    /// Creates the type of this name, case-insensitively; nil for unsupported types.
    public init?(_ name: String) {
      guard let type = Self.allCases.first(where: { $0.name == name.uppercased() }) else { return nil }
      self = type
    }
  }

  /// The name of the question, without a trailing dot; empty for the root.
  public var name: String
  /// The record type.
  public var type: RecordType

  /// Creates a question.
  public init(name: String, type: RecordType = .a) {
    self.name = name
    self.type = type
  }
}
