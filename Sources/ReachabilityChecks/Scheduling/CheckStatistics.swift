public import ReachabilityModel

/// The statistics of a schedule for metrics, by module and by state, never by target.
public struct CheckStatistics: Sendable {
  /// The number of targets in each state.
  public var targets: [TargetState: Int] = [:]
  /// The number of flapping targets.
  public var flapping = 0
  /// The number of running checks.
  public var running = 0
  /// The number of due checks that wait for the concurrency limit.
  public var waiting = 0
  /// The delay between the due times of checks and their starts.
  public var lag = CheckDurationHistogram()
  /// Checks that were skipped because the previous one was still running.
  public var overlaps: UInt64 = 0
  /// Results that were discarded and checked again, because this process was suspended or the route changed.
  public var retries: UInt64 = 0
  /// Checks of parents on behalf of failing children.
  public var dependencyChecks: UInt64 = 0
  /// Waits of children for a result of a parent that took too long.
  public var dependencyTimeouts: UInt64 = 0
  /// The results by module.
  public var modules: [String: Module] = [:]

  /// The results of one module.
  public struct Module: Sendable {
    /// The durations of the checks.
    public var durations = CheckDurationHistogram()
    /// The number of results in each state.
    public var results: [CheckResult.State: UInt64] = [:]
    /// The number of failures for each reason.
    public var reasons: [Reason: UInt64] = [:]

    /// No results.
    public init() {}

    /// Counts a result.
    mutating func record(_ result: CheckResult) {
      durations.observe(result.duration)
      results[result.state, default: 0] += 1
      if let reason = result.reason { reasons[reason, default: 0] += 1 }
    }
  }

  /// Statistics without checks.
  public init() {}

  /// The same with the present numbers of targets and checks.
  func with(_ entries: some Sequence<ScheduleEntry>, running: Int, waiting: Int) -> CheckStatistics {
    var statistics = self
    for state in TargetState.allCases { statistics.targets[state] = 0 }
    for entry in entries {
      statistics.targets[entry.report.status.state, default: 0] += 1
      if entry.report.status.isFlapping { statistics.flapping += 1 }
    }
    (statistics.running, statistics.waiting) = (running, waiting)
    return statistics
  }
}
