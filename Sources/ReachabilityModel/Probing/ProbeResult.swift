/// What one check found: a value, also when the network says no.
public struct ProbeResult: Hashable, Sendable {
  /// Whether it answered.
  public var state: State
  /// Why it is not `up`; nil when it is.
  public var reason: Reason?
  /// The evidence in words, for a person: what came in place of what was expected.
  ///
  /// Never the content of a body.
  public var detail: String?
  /// The address that was asked; nil when there was none to ask.
  public var address: IPAddress?
  /// The own address that was used; nil if it came to no connection.
  public var source: IPAddress?
  /// When it began.
  public var startedAt: Timestamp
  /// How long it took, all phases together.
  public var duration: Duration
  /// How long each phase took, in the order in which they happened; those that were not reached are absent.
  public var phases: [Phase]
  /// What the protocol told besides.
  public var evidence: Evidence

  /// Whether the target answered.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It answered as expected.
    case up
    /// It did not, and our own way out is not to blame.
    case down
    /// Our own way to it is missing: nothing is said about the target.
    case unreachable
    /// It could not be told: a DNS server did not answer, the check was cancelled or not allowed.
    case unknown
  }

  /// A span of a check.
  public struct Phase: Hashable, Sendable {
    /// Which.
    public var name: Name
    /// How long.
    public var duration: Duration

    /// The spans, in their order.
    public enum Name: String, Hashable, Sendable, CaseIterable {
      /// The name's addresses.
      case resolve
      /// The TCP handshake.
      case connect
      /// The TLS handshake.
      case tls
      /// From the request sent to the first byte of the answer; for a dialogue, until it matched.
      case processing
      /// From the first byte of the answer to the last.
      case transfer
      /// The average ICMP round trip.
      case rtt
    }

    /// A span.
    public init(_ name: Name, _ duration: Duration) {
      self.name = name
      self.duration = duration
    }
  }

  /// A result.
  public init(
    _ state: State, _ reason: Reason? = nil, detail: String? = nil, address: IPAddress? = nil,
    source: IPAddress? = nil, startedAt: Timestamp, duration: Duration, phases: [Phase] = [],
    evidence: Evidence = Evidence()
  ) {
    self.state = state
    self.reason = reason
    self.detail = detail
    self.address = address
    self.source = source
    self.startedAt = startedAt
    self.duration = duration
    self.phases = phases
    self.evidence = evidence
  }

  /// The time of one phase; nil if it was not reached.
  public func duration(of name: Phase.Name) -> Duration? { phases.first { $0.name == name }?.duration }
}

extension ProbeResult {
  /// What the protocols told, as far as the check came.
  public struct Evidence: Hashable, Sendable {
    /// The HTTP answer.
    public var http: HTTP?
    /// The TLS session and its certificate.
    public var tls: TLS?
    /// The echoes.
    public var icmp: ICMP?
    /// The DNS answer.
    public var dns: DNS?

    /// Nothing yet.
    public init() {}
  }

  /// An HTTP answer's head.
  public struct HTTP: Hashable, Sendable {
    /// The status code of the last answer.
    public var status: Int
    /// `1.0`, `1.1`, `2`.
    public var version: String
    /// How many redirects were followed.
    public var redirects: Int
    /// The bytes of the body that were read, decoded.
    public var bodyBytes: Int
    /// What `Content-Length` says; nil when it is absent.
    public var contentLength: Int?

    /// An HTTP answer's head.
    public init(status: Int, version: String, redirects: Int = 0, bodyBytes: Int = 0, contentLength: Int? = nil) {
      self.status = status
      self.version = version
      self.redirects = redirects
      self.bodyBytes = bodyBytes
      self.contentLength = contentLength
    }
  }

  /// A TLS session and its certificate; also of a certificate that was refused.
  public struct TLS: Hashable, Sendable {
    /// `TLSv1.2`, `TLSv1.3`; empty if the handshake did not come so far.
    public var version: String
    /// The cipher suite's name; empty if the handshake did not come so far.
    public var cipher: String
    /// The end of the first certificate of the chain to expire.
    public var earliestExpiry: Timestamp?
    /// The certificate's subject and issuer (RFC 4514).
    public var subject: String
    /// Who signed it.
    public var issuer: String
    /// The names it is for (RFC 5280 §4.2.1.6).
    public var names: [String]

    /// A TLS session.
    public init(
      version: String = "", cipher: String = "", earliestExpiry: Timestamp? = nil, subject: String = "",
      issuer: String = "", names: [String] = []
    ) {
      self.version = version
      self.cipher = cipher
      self.earliestExpiry = earliestExpiry
      self.subject = subject
      self.issuer = issuer
      self.names = names
    }
  }

  /// Echo requests and their replies.
  public struct ICMP: Hashable, Sendable {
    /// How many were sent.
    public var sent: Int
    /// How many came back.
    public var received: Int
    /// The shortest round trip; nil if none came back.
    public var minimum: Duration?
    /// The average round trip.
    public var average: Duration?
    /// The longest round trip.
    public var maximum: Duration?
    /// The mean difference between one round trip and the next (RFC 3550 §6.4.1, without smoothing).
    public var jitter: Duration?
    /// The hop limit of the last reply; nil if unknown.
    public var hopLimit: Int?

    /// Echo requests and their replies.
    public init(
      sent: Int, received: Int, minimum: Duration? = nil, average: Duration? = nil, maximum: Duration? = nil,
      jitter: Duration? = nil, hopLimit: Int? = nil
    ) {
      self.sent = sent
      self.received = received
      self.minimum = minimum
      self.average = average
      self.maximum = maximum
      self.jitter = jitter
      self.hopLimit = hopLimit
    }

    /// The share that was lost, 0…1.
    public var loss: Double { sent == 0 ? 0 : Double(sent - received) / Double(sent) }
  }

  /// A DNS answer.
  public struct DNS: Hashable, Sendable {
    /// The response code in upper case: `NOERROR`, `NXDOMAIN`.
    public var code: String
    /// How many records each section had: answer, authority, additional.
    public var counts: [Int]
    /// The data of the answers as zone files write them.
    public var answers: [String]

    /// A DNS answer.
    public init(code: String, counts: [Int] = [0, 0, 0], answers: [String] = []) {
      self.code = code
      self.counts = counts
      self.answers = answers
    }
  }
}

// The reasons that only an active check can give; the others are the route's and the resolver's.
extension Reason {
  /// ICMP or the kernel said that the network cannot be reached (ENETUNREACH).
  public static let networkUnreachable = Reason(rawValue: "networkUnreachable")
  /// ICMP or the neighbour discovery said that the host cannot be reached (EHOSTUNREACH).
  public static let hostUnreachable = Reason(rawValue: "hostUnreachable")
  /// The host is there and nothing listens (ECONNREFUSED).
  public static let refused = Reason(rawValue: "refused")
  /// Nobody answered the attempt to connect.
  public static let connectTimeout = Reason(rawValue: "connectTimeout")
  /// The peer broke the connection (ECONNRESET, EPIPE), or closed it before it had answered.
  public static let reset = Reason(rawValue: "reset")
  /// The TLS handshake failed for another reason than the certificate.
  public static let tlsHandshake = Reason(rawValue: "tlsHandshake")
  /// The certificate has expired, is not yet valid, or expires too soon.
  public static let certificateExpired = Reason(rawValue: "certificateExpired")
  /// The certificate's chain leads to no authority that is trusted.
  public static let certificateUntrusted = Reason(rawValue: "certificateUntrusted")
  /// The certificate is for other names.
  public static let certificateNameMismatch = Reason(rawValue: "certificateNameMismatch")
  /// The HTTP status is none of those expected.
  public static let httpStatus = Reason(rawValue: "httpStatus")
  /// Body or header fields are not as expected.
  public static let httpBody = Reason(rawValue: "httpBody")
  /// Connected, but what was expected did not come; no echo came back; the answer was no answer.
  public static let noReply = Reason(rawValue: "noReply")
  /// More echoes were lost than allowed.
  public static let packetLoss = Reason(rawValue: "packetLoss")
  /// It answered, but took longer than allowed.
  public static let slow = Reason(rawValue: "slow")
  /// The deadline passed after the connection was made.
  public static let timeout = Reason(rawValue: "timeout")
  /// The policy does not let this caller contact this address.
  public static let policyDenied = Reason(rawValue: "policyDenied")
  /// The caller or the end of the service ended the check.
  public static let cancelled = Reason(rawValue: "cancelled")
}
