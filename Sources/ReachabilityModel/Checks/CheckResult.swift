/// The result of one check; network failures are results, not errors.
public struct CheckResult: Hashable, Sendable {
  /// Whether the target answered.
  public var state: State
  /// Why it is not `up`; nil when it is.
  public var reason: Reason?
  /// A description of the evidence: what arrived instead of what was expected.
  ///
  /// It never contains body content.
  public var detail: String?
  /// The address that was contacted; nil when there was none.
  public var address: IPAddress?
  /// The source address that was used; nil if there was no connection.
  public var source: IPAddress?
  /// When the check began.
  public var startedAt: Timestamp
  /// The duration of all phases together.
  public var duration: Duration
  /// The duration of each phase, in order; phases that were not reached are absent.
  public var phases: [Phase]
  /// Further results of the protocol.
  public var evidence: Evidence

  /// Whether the target answered.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It answered as expected.
    case up
    /// It did not answer, and the path to it is not the cause.
    case down
    /// There is no path to it; the result does not describe the target.
    case unreachable
    /// The result is unknown: a DNS server did not answer, or the check was cancelled or denied.
    case unknown
  }

  /// A timed part of a check.
  public struct Phase: Hashable, Sendable {
    /// The phase.
    public var name: Name
    /// Its duration.
    public var duration: Duration

    /// The phases, in their order.
    public enum Name: String, Hashable, Sendable, CaseIterable {
      /// Name resolution.
      case resolve
      /// The TCP handshake.
      case connect
      /// The TLS handshake.
      case tls
      /// From the last byte of the request to the first byte of the answer; for a dialogue, until it matched or ended.
      case processing
      /// From the first byte of the answer to the last.
      case transfer
      /// The average ICMP round trip.
      case rtt
    }

    /// Creates a phase.
    public init(_ name: Name, _ duration: Duration) {
      self.name = name
      self.duration = duration
    }
  }

  /// Creates a result.
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

  /// The duration of one phase; nil if it was not reached.
  public func duration(of name: Phase.Name) -> Duration? { phases.first { $0.name == name }?.duration }
}
