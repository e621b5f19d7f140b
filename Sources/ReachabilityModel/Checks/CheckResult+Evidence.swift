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

    /// The results of the protocols, in the order of the document of a check.
    package var all: [any CheckEvidence] {
      ([http, tls, icmp, dns] as [(any CheckEvidence)?]).compactMap(\.self)
    }

    /// Creates empty evidence.
    public init() {}

    private mutating func change(_ body: (inout Parts) -> Void) {
      var changed = parts?.value ?? Parts()
      body(&changed)
      parts = changed == Parts() ? nil : SharedValue(changed)
    }
  }
}
