/// The time that a target spent in each state during a window, and its outages.
///
/// Summaries of adjacent windows add up to the summary of both.
public struct UptimeSummary: Sendable, Equatable {
  /// Microseconds by the raw value of the state.
  private var times = SIMD8<Int64>(repeating: 0)
  /// The outages that began: the state became `down`, and no outage was open.
  public private(set) var outages = 0
  /// The outages that ended: the state became `up` or `paused`, or the target was removed.
  public private(set) var endedOutages = 0
  /// The down time in microseconds of the outages that ended, also the part before the window.
  public private(set) var repairTime: Int64 = 0

  /// An empty window.
  public init() {}

  /// The time in a state, in microseconds.
  public subscript(state: UptimeState) -> Int64 { times[Int(state.rawValue)] }

  /// The length of the window in microseconds.
  public var window: Int64 { times.wrappedSum() }

  /// The share of `up` in the time in which the target was `up` or `down`; nil if it was neither.
  public var availability: Double? {
    let known = self[.up] + self[.down]
    return known == 0 ? nil : Double(self[.up]) / Double(known)
  }

  /// The share of the window in which the target was known to be `up` or `down`.
  public var coverage: Double { window == 0 ? 0 : Double(self[.up] + self[.down]) / Double(window) }

  /// The mean down time in microseconds of the outages that ended (MTTR); nil if none ended.
  public var meanTimeToRepair: Int64? { endedOutages == 0 ? nil : repairTime / Int64(endedOutages) }

  /// The up time in microseconds for each outage that began (MTBF); nil if none began.
  public var meanTimeBetweenFailures: Int64? { outages == 0 ? nil : self[.up] / Int64(outages) }

  /// Adds the summary of an adjacent window.
  public static func += (left: inout UptimeSummary, right: UptimeSummary) {
    left.times &+= right.times
    left.outages += right.outages
    left.endedOutages += right.endedOutages
    left.repairTime &+= right.repairTime
  }

  mutating func add(_ microseconds: Int64, in state: UptimeState) { times[Int(state.rawValue)] += microseconds }

  mutating func beginOutage() { outages += 1 }

  mutating func endOutage(after downTime: Int64) {
    endedOutages += 1
    repairTime += downTime
  }
}
