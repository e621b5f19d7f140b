/// One run of the service, from its start to its last sign of life.
///
/// Its times are of CLOCK_BOOTTIME, in microseconds: setting the wall clock does not change them.
public struct UptimeRun: Sendable, Equatable {
  /// The number of the run; later runs have higher ones.
  public var id: Int64
  /// The identity of the zero of CLOCK_BOOTTIME: the id of the kernel's boot (`/proc/sys/kernel/random/boot_id`), and the offset
  /// of a time namespace.
  public var boot: String
  /// When it started.
  public var started: Int64
  /// Its end, or its last sign of life.
  public var alive: Int64
  /// CLOCK_REALTIME minus CLOCK_BOOTTIME at ``alive``.
  public var shift: Int64
}

/// A time in which the machine was suspended during a run, in microseconds of CLOCK_BOOTTIME.
public struct UptimeSuspension: Sendable, Equatable {
  /// The run.
  public var run: Int64
  /// The start and the end.
  public var range: Range<Int64>
}

/// Places the runs of the service in UTC.
///
/// Durations within a boot are those of CLOCK_BOOTTIME, and the last reading of the wall clock in a boot places it. So a
/// step of the wall clock moves all records of the boot together. Boots do not overlap. One whose clock contradicts the
/// others', because it ends after the next one begins, or begins before an earlier one ends, is placed directly before the
/// next one: nothing that happened since a moment is missed.
public struct UptimeTimeline: Sendable {
  /// The intervals of UTC in microseconds in which the service ran, ascending and disjoint.
  public let monitored: [Range<Int64>]
  /// What to add to the CLOCK_BOOTTIME of a run.
  private let shifts: [Int64: Int64]
  private let starts: [(start: Int64, run: Int64)]

  /// Creates the time line.
  ///
  /// - Parameters:
  ///   - runs: the last runs, ascending; older ones may be left out.
  ///   - suspensions: when the machine was suspended, ascending.
  public init(runs: [UptimeRun], suspensions: [UptimeSuspension] = []) {
    var shifts: [Int64: Int64] = [:]
    var spans: [(run: Int64, range: Range<Int64>)] = []
    var limit = Int64.max
    let boots = Self.boots(runs)
    for (index, boot) in boots.enumerated().reversed() {
      let shift = Self.shift(of: boot, after: boots[max(0, index - Limits.earlierRuns)..<index], before: limit)
      for run in boot.runs.reversed() {
        shifts[run.id] = shift
        let end = min(max(run.alive, run.started) + shift, limit)
        let start = min(run.started + shift, end)
        spans.append((run.id, start..<end))
        limit = start
      }
    }
    self.shifts = shifts
    spans.reverse()
    starts = spans.map { ($0.range.lowerBound, $0.run) }
    let asleep = Dictionary(grouping: suspensions, by: \.run)
    monitored = spans.flatMap { run, range in
      let shift = shifts[run] ?? 0
      return Self.subtract(
        (asleep[run] ?? []).map { ($0.range.lowerBound + shift)..<($0.range.upperBound + shift) }, from: range)
    }
  }

  /// Runs of one boot, ascending; at least one.
  private struct Boot {
    var runs: ArraySlice<UptimeRun>
    /// Its times of CLOCK_BOOTTIME.
    var start: Int64
    var end: Int64
    /// By the last reading of the wall clock.
    var shift: Int64
  }

  private static func boots(_ runs: [UptimeRun]) -> [Boot] {
    var boots: [Boot] = []
    for (index, run) in runs.enumerated() {
      let end = max(run.alive, run.started)
      if let last = boots.last, runs[index - 1].boot == run.boot {
        boots[boots.count - 1] = Boot(
          runs: runs[last.runs.startIndex...index], start: last.start, end: max(last.end, end), shift: run.shift)
      } else {
        boots.append(Boot(runs: runs[index...index], start: run.started, end: end, shift: run.shift))
      }
    }
    return boots
  }

  /// What to add to the times of a boot; `limit` is the start of the next one, `.max` for the present boot.
  private static func shift(of boot: Boot, after earlier: ArraySlice<Boot>, before limit: Int64) -> Int64 {
    guard limit != .max else { return boot.shift }
    // The end of the last boot before it whose own clock may be right.
    let latest = earlier.map { $0.end + $0.shift }.filter { $0 <= limit }.max() ?? .min
    let isAhead = boot.end + boot.shift > limit
    let isBehind = boot.start + boot.shift < latest
    // Each boot that a damaged file has may move the one before it; the sum must not overflow.
    return isAhead || isBehind ? max(-Limits.latestTime, limit - boot.end) : boot.shift
  }

  private static func subtract(_ holes: [Range<Int64>], from range: Range<Int64>) -> [Range<Int64>] {
    var parts: [Range<Int64>] = []
    var start = range.lowerBound
    for hole in holes where hole.upperBound > start && hole.lowerBound < range.upperBound {
      if hole.lowerBound > start { parts.append(start..<hole.lowerBound) }
      start = max(start, hole.upperBound)
    }
    if start < range.upperBound { parts.append(start..<range.upperBound) }
    return parts
  }

  /// Places a record in UTC.
  ///
  /// - Parameters:
  ///   - run: the run that wrote the record.
  ///   - boottime: its time in microseconds of CLOCK_BOOTTIME.
  /// - Returns: its time in microseconds of UTC; nil when its run was left out, and for a time that no clock has.
  public func time(run: Int64, boottime: Int64) -> Int64? {
    Self.time(boottime, shift: shift(of: run))
  }

  /// The time of a record whose run has a shift.
  static func time(_ boottime: Int64, shift: Int64?) -> Int64? {
    guard let shift, (0...Limits.latestTime).contains(boottime) else { return nil }
    return boottime + shift
  }

  /// What to add to the times of a run; nil when it was left out.
  func shift(of run: Int64) -> Int64? { shifts[run] }
}
