/// Computes the uptime of one target from its changes of state, in their order.
///
/// An outage begins with `down`. It ends with `up`, with a pause or with the removal of the target. Other states inside it
/// neither end nor lengthen it.
public struct UptimeAccumulator: Sendable {
  private var summary = UptimeSummary()
  private var state: UptimeState
  /// The end of what is in the summary, in microseconds of UTC.
  private var time: Int64
  /// The first monitored interval that ends after ``time``.
  private var interval = 0
  /// The down time in microseconds of the open outage; nil when none is open.
  private var openOutage: Int64?

  /// Starts with a target that is not registered.
  ///
  /// - Parameter time: the start, in microseconds of UTC.
  public init(at time: Int64) {
    self.time = time
    state = .unmonitored
  }

  /// Adds the time up to a change, and changes the state.
  ///
  /// A time before the last one counts as the last one.
  ///
  /// - Parameters:
  ///   - next: the new state; `unmonitored` for the removal of the target.
  ///   - time: when it changed, in microseconds of UTC.
  ///   - monitored: the intervals in which the service ran, ascending and disjoint; the same for every call.
  public mutating func change(to next: UptimeState, at time: Int64, monitored: [Range<Int64>]) {
    advance(to: time, monitored: monitored)
    state = next
    switch (next, openOutage) {
    case (.down, nil):
      openOutage = 0
      summary.beginOutage()
    case (.up, let downTime?), (.paused, let downTime?), (.unmonitored, let downTime?):
      openOutage = nil
      summary.endOutage(after: downTime)
    default: break
    }
  }

  /// Adds the time up to a moment.
  public mutating func advance(to end: Int64, monitored: [Range<Int64>]) {
    while time < end {
      while interval < monitored.count, monitored[interval].upperBound <= time { interval += 1 }
      guard interval < monitored.count else { return add(.unmonitored, until: end) }
      let range = monitored[interval]
      if range.lowerBound > time {
        add(.unmonitored, until: min(end, range.lowerBound))
      } else {
        add(state, until: min(end, range.upperBound))
      }
    }
  }

  private mutating func add(_ state: UptimeState, until end: Int64) {
    summary.add(end - time, in: state)
    if state == .down, let downTime = openOutage { openOutage = downTime + end - time }
    time = end
  }

  /// Returns the summary since the start or the last call, and begins an empty one.
  public mutating func take() -> UptimeSummary {
    defer { summary = UptimeSummary() }
    return summary
  }
}
