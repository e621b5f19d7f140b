public import ReachabilityModel

/// What a schedule has done and does, for metrics: figures by module and by state, never by target.
public struct CheckFigures: Sendable {
  /// How many targets are in each state.
  public var targets: [TargetState: Int] = [:]
  /// How many of them flap.
  public var flapping = 0
  /// How many checks are under way.
  public var running = 0
  /// How many are due and wait for one of the bounded places.
  public var waiting = 0
  /// How much later than planned checks began.
  public var lag = DurationHistogram()
  /// Checks that were due while the one before was still under way, and were left out.
  public var overlaps: UInt64 = 0
  /// Results that were thrown away and asked for again, because this process had stood still or the way had changed.
  public var repeats: UInt64 = 0
  /// The results of each module.
  public var modules: [String: Module] = [:]

  /// What the checks by one module found.
  public struct Module: Sendable {
    /// How long they took.
    public var durations = DurationHistogram()
    /// How many ended in each state.
    public var results: [ProbeResult.State: UInt64] = [:]
    /// How many failed for each reason.
    public var reasons: [Reason: UInt64] = [:]

    /// No results yet.
    public init() {}

    /// Counts a result.
    mutating func note(_ result: ProbeResult) {
      durations.note(result.duration)
      results[result.state, default: 0] += 1
      if let reason = result.reason { reasons[reason, default: 0] += 1 }
    }
  }

  /// Nothing yet.
  public init() {}
}
