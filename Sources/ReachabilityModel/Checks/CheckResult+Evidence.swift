extension CheckResult {
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
    /// Whether it leads elsewhere itself, followed or not.
    public var isRedirect: Bool

    /// An HTTP answer's head.
    public init(
      status: Int, version: String, redirects: Int = 0, bodyBytes: Int = 0, contentLength: Int? = nil,
      isRedirect: Bool = false
    ) {
      self.status = status
      self.version = version
      self.redirects = redirects
      self.bodyBytes = bodyBytes
      self.contentLength = contentLength
      self.isRedirect = isRedirect
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
    /// SHA-256 of the certificate in hexadecimal digits.
    public var fingerprint: String
    /// The end of the first certificate to expire on the way to an authority that was found in order.
    ///
    /// Nil where there is none, and where none was looked for.
    public var pathExpiry: Timestamp?

    /// A TLS session.
    public init(
      version: String = "", cipher: String = "", earliestExpiry: Timestamp? = nil, subject: String = "",
      issuer: String = "", names: [String] = [], fingerprint: String = "", pathExpiry: Timestamp? = nil
    ) {
      self.version = version
      self.cipher = cipher
      self.earliestExpiry = earliestExpiry
      self.subject = subject
      self.issuer = issuer
      self.names = names
      self.fingerprint = fingerprint
      self.pathExpiry = pathExpiry
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
