/// What one check found: a value, also when the network says no.
public struct CheckResult: Hashable, Sendable {
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
      /// From the request sent to the first byte of the answer; for a dialogue, until it matched or ended without that.
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
