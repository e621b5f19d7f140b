extension CheckResult {
  /// The results of the protocols that the check reached.
  public struct Evidence: Hashable, Sendable {
    private struct Parts: Hashable, Sendable {
      var http: HTTP?
      var tls: TLS?
      var icmp: ICMP?
      var dns: DNS?
      var attempts: [Attempt] = []
      var redirectTarget: CheckTarget?
    }

    /// The parts that exist; nil for none.
    ///
    /// By reference, because they have hundreds of bytes: every result would have them, and a TCP check has none.
    private var parts: SharedValue<Parts>?

    /// The HTTP response.
    public var http: HTTP? {
      get { parts?.value.http }
      set { change { $0.http = newValue } }
    }
    /// The TLS session and its certificate.
    public var tls: TLS? {
      get { parts?.value.tls }
      set { change { $0.tls = newValue } }
    }
    /// The ICMP echoes.
    public var icmp: ICMP? {
      get { parts?.value.icmp }
      set { change { $0.icmp = newValue } }
    }
    /// The DNS answer.
    public var dns: DNS? {
      get { parts?.value.dns }
      set { change { $0.dns = newValue } }
    }

    /// The addresses that were contacted, in their order, if there were several.
    public var attempts: [Attempt] {
      get { parts?.value.attempts ?? [] }
      set { change { $0.attempts = newValue } }
    }

    /// The target of the last redirect that was followed, which ``CheckResult/address`` belongs to; nil without a redirect.
    package var redirectTarget: CheckTarget? {
      get { parts?.value.redirectTarget }
      set { change { $0.redirectTarget = newValue } }
    }

    /// Creates empty evidence.
    public init() {}

    private mutating func change(_ body: (inout Parts) -> Void) {
      var changed = parts?.value ?? Parts()
      body(&changed)
      parts = changed == Parts() ? nil : SharedValue(changed)
    }
  }

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

  /// A TLS session and its certificate, including a certificate that was rejected.
  public struct TLS: Hashable, Sendable {
    /// `TLSv1.2`, `TLSv1.3`; empty if the handshake did not reach it.
    public var version: String
    /// The name of the cipher suite; empty if the handshake did not reach it.
    public var cipher: String
    /// The earliest expiry of the certificates that the server sent, whether or not they are needed; of all redirects.
    public var earliestExpiry: Timestamp?
    /// The earliest expiry on the certification path; without verification, of the certificates that the server sent.
    ///
    /// If no path is valid, it is that of the path whose faults are reported. Of several servers, after redirects, it is the
    /// earliest.
    public var expiry: Timestamp?
    /// The subject of the certificate (RFC 4514).
    public var subject: String
    /// The issuer of the certificate (RFC 4514).
    public var issuer: String
    /// The subject alternative names (RFC 5280 §4.2.1.6).
    public var names: [String]
    /// The SHA-256 fingerprint of the certificate in hexadecimal digits.
    public var fingerprint: String
    /// The earliest expiry on a certification path that was validated.
    ///
    /// Nil if there is no such path, or if none was searched for.
    public var pathExpiry: Timestamp?

    /// Creates a TLS session.
    public init(
      version: String = "", cipher: String = "", earliestExpiry: Timestamp? = nil, expiry: Timestamp? = nil,
      subject: String = "",
      issuer: String = "", names: [String] = [], fingerprint: String = "", pathExpiry: Timestamp? = nil
    ) {
      self.version = version
      self.cipher = cipher
      self.earliestExpiry = earliestExpiry
      self.expiry = expiry
      self.subject = subject
      self.issuer = issuer
      self.names = names
      self.fingerprint = fingerprint
      self.pathExpiry = pathExpiry
    }

    /// The session with the earliest expiries of several.
    package func withExpiries(of others: [TLS]) -> TLS {
      var result = self
      let all = [self] + others
      result.earliestExpiry = all.compactMap(\.earliestExpiry).min()
      result.expiry = all.compactMap(\.expiry).min()
      result.pathExpiry = all.compactMap(\.pathExpiry).min()
      return result
    }
  }

  /// The statistics of ICMP echo requests and replies.
  public struct ICMP: Hashable, Sendable {
    /// The number of requests.
    public var sent: Int
    /// The number of replies.
    public var received: Int
    /// The shortest round trip; nil without replies.
    public var minimum: Duration?
    /// The average round trip.
    public var average: Duration?
    /// The longest round trip.
    public var maximum: Duration?
    /// The mean difference between consecutive round trips (RFC 3550 §6.4.1, without smoothing).
    public var jitter: Duration?
    /// The hop limit of the last reply; nil if unknown.
    public var hopLimit: Int?

    /// Creates the statistics of an echo check.
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

    /// The loss ratio, 0…1.
    public var loss: Double { sent == 0 ? 0 : Double(sent - received) / Double(sent) }
  }

  /// A DNS response.
  public struct DNS: Hashable, Sendable {
    /// The response code in upper case: `NOERROR`, `NXDOMAIN`.
    public var code: String
    /// The number of records per section: answer, authority, additional.
    public var counts: [Int]
    /// The data of the answers in zone file format.
    public var answers: [String]

    /// Creates a DNS response.
    public init(code: String, counts: [Int] = [0, 0, 0], answers: [String] = []) {
      self.code = code
      self.counts = counts
      self.answers = answers
    }
  }
}
