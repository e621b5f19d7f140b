extension CheckResult {
  /// The attempt to contact one of several addresses.
  public struct Attempt: Hashable, Sendable {
    /// The address.
    public var address: IPAddress
    /// The result for this address; `unknown` if another one answered first.
    public var state: State
    /// Why it is not `up`; nil when it is.
    public var reason: Reason?
    /// A description of the failure.
    public var detail: String?
    /// The time from the begin of the check to the begin of the attempt.
    public var startedAfter: Duration
    /// The duration of the attempt; if one address is sufficient, until it was contacted.
    public var duration: Duration
    /// The source address, if all addresses were checked.
    public var source: IPAddress?
    /// The duration of each phase, if all addresses were checked.
    public var phases: [Phase]
    /// The results of the protocols, if all addresses were checked.
    public var evidence: Evidence

    /// Creates the result of an attempt.
    public init(
      _ address: IPAddress, _ state: State, _ reason: Reason? = nil, detail: String? = nil,
      startedAfter: Duration = .zero, duration: Duration = .zero, source: IPAddress? = nil, phases: [Phase] = [],
      evidence: Evidence = Evidence()
    ) {
      self.address = address
      self.state = state
      self.reason = reason
      self.detail = detail
      self.startedAfter = startedAfter
      self.duration = duration
      self.source = source
      self.phases = phases
      self.evidence = evidence
    }
  }
}
