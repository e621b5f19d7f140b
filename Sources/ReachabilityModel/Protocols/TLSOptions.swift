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

extension CheckModule.Options {
  /// A TLS handshake.
  public static func tls(_ options: TLSOptions) -> Self { Self(options) }
}

extension TLSOptions: CheckOptions {
  /// The keys of every module with TLS.
  static let own = ["serverName", "verify", "authorityFile", "minimumValidity"]

  package static let prober = "tls"
  package static let schemes = [CheckTarget.Scheme.tls]
  package static let keys = own + ["hosts", "addresses"]

  package mutating func read(_ fields: inout some CheckOptionFields) {
    serverName = fields.value("serverName", .hostName)
    verify = fields.value("verify", .boolean) ?? verify
    authorityFile = fields.value("authorityFile", .absolutePath)
    minimumValidity = fields.value("minimumValidity", .duration) ?? minimumValidity
  }

  package var sendsConfiguredData: Bool { serverName != nil }

  package var handshake: TLSOptions? { self }

  /// In blackbox_exporter this is a TCP module with TLS; without a dialogue, no expression can fail.
  package func series(_ result: CheckResult) -> [ProbeSeries] { [.regexFailure(false)] }

  package func series(_ session: CheckResult.TLS) -> [ProbeSeries] {
    func second(_ moment: Timestamp) -> Double { Double(moment.microseconds / 1_000_000) }
    var series: [ProbeSeries] = []
    func add(_ name: String, _ help: String, _ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
      series.append(ProbeSeries(name, help, value, labels))
    }
    if let expiry = session.earliestExpiry {
      add("probe_ssl_earliest_cert_expiry", "Returns earliest SSL cert expiry in unixtime", second(expiry))
    }
    // Without verification blackbox_exporter has Go's zero time, in the year 1.
    if let expiry = session.pathExpiry.map(second) ?? (verify ? nil : -62_135_596_800) {
      add("probe_ssl_last_chain_expiry_timestamp_seconds", "Returns last SSL chain expiry in timestamp", expiry)
    }
    if !session.fingerprint.isEmpty {
      let names = session.names.filter { IPAddress($0) == nil }.joined(separator: ",")
      add(
        "probe_ssl_last_chain_info", "Contains SSL leaf certificate information", 1,
        [
          "fingerprint_sha256": session.fingerprint, "issuer": session.issuer, "subject": session.subject,
          "subjectalternative": names,
        ])
    }
    if !session.version.isEmpty {
      let version = session.version.replacing("TLSv", with: "TLS ", maxReplacements: 1)
      add("probe_tls_version_info", "Contains the TLS version used", 1, ["version": version])
    }
    return series
  }
}

extension CheckResult {
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
}

extension CheckResult.TLS: CheckEvidence {
  package static let name = "tls"

  package var members: KeyValuePairs<String, EvidenceValue> {
    [
      "version": .text(version), "cipher": .text(cipher), "earliestExpiry": .text(earliestExpiry?.description),
      "expiry": .text(expiry?.description), "subject": .text(subject), "issuer": .text(issuer), "names": .texts(names),
    ]
  }

  package var summary: String {
    version + ((expiry ?? earliestExpiry).map { ", valid until \($0.description.prefix(10))" } ?? "")
  }
}
