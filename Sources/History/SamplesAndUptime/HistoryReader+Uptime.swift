public import Database

extension HistoryReader {
  /// A change of a target's state as the uptime needs it.
  private struct Change {
    var run: Int64
    var boottime: Int64
    var state: UptimeState
  }

  /// Computes the uptime of one target.
  ///
  /// - Parameters:
  ///   - target: its number, from ``reference(to:)``.
  ///   - window: the window in microseconds since 1970.
  ///   - step: the length of the steps in microseconds; the last one may be shorter.
  /// - Returns: the uptime in each step.
  /// - Throws: SQLite's error.
  public func uptime(of target: Int64, in window: Range<Int64>, step: Int64) throws(DatabaseError) -> [UptimeStep] {
    try uptime(of: target, in: UptimeWindow(window, step: step))
  }

  /// Computes the uptime of one target in the steps of a window.
  ///
  /// - Throws: SQLite's error.
  public func uptime(of target: Int64, in steps: UptimeWindow) throws(DatabaseError) -> [UptimeStep] {
    let window = steps.range
    var timeline = try timeline(since: window.lowerBound)
    let first = try firstEntry(at: window.lowerBound, timeline)
    let opening = try opening(of: target, before: first)
    // An open outage may have begun any number of runs before the window.
    if let outage = opening.first, outage.state == .down {
      timeline = try self.timeline(since: window.lowerBound, from: outage.run)
    }
    var uptime = start(with: opening, at: window.lowerBound, timeline)
    var found: [UptimeStep] = []
    /// Ends the steps that are over at a moment.
    func finish(until time: Int64) {
      while found.count < steps.steps, steps.bounds[found.count + 1] <= time {
        uptime.advance(to: steps.bounds[found.count + 1], monitored: timeline.monitored)
        found.append(UptimeStep(start: steps.bounds[found.count], summary: uptime.take()))
      }
    }
    try changes("subject = ? AND id >= ?", [.integer(target), .integer(first)]) { change in
      let time = timeline.time(run: change.run, boottime: change.boottime) ?? .min
      guard time < window.upperBound else { return false }
      finish(until: time)
      uptime.change(to: change.state, at: time, monitored: timeline.monitored)
      return true
    }
    finish(until: window.upperBound)
    return found
  }

  /// Computes the uptime of many targets in one window.
  ///
  /// - Parameters:
  ///   - targets: their numbers, from ``reference(to:)``.
  ///   - window: the window in microseconds since 1970.
  /// - Returns: the uptime of each target.
  /// - Throws: SQLite's error.
  public func uptimes(of targets: [Int64], in window: Range<Int64>) throws(DatabaseError) -> [UptimeSummary] {
    var timeline = try timeline(since: window.lowerBound)
    let first = try firstEntry(at: window.lowerBound, timeline)
    let end = try firstEntry(at: window.upperBound, timeline)
    var openings: [[Change]] = []
    for target in targets { openings.append(try opening(of: target, before: first)) }
    if let run = openings.compactMap(\.first).filter({ $0.state == .down }).map(\.run).min() {
      timeline = try self.timeline(since: window.lowerBound, from: run)
    }
    var uptimes = openings.map { start(with: $0, at: window.lowerBound, timeline) }
    // A million changes are of few runs.
    var known: (run: Int64, shift: Int64?) = (.min, nil)
    for (place, target) in targets.enumerated() {
      try changes(
        "subject = ? AND id >= ? AND id < ?", [.integer(target), .integer(first), .integer(end)]
      ) { change in
        if change.run != known.run { known = (change.run, timeline.shift(of: change.run)) }
        let time = min(window.upperBound, UptimeTimeline.time(change.boottime, shift: known.shift) ?? .min)
        uptimes[place].change(to: change.state, at: time, monitored: timeline.monitored)
        return true
      }
    }
    return uptimes.indices.map { place in
      uptimes[place].advance(to: window.upperBound, monitored: timeline.monitored)
      return uptimes[place].take()
    }
  }

  /// The state before an entry, with all changes since the outage began that may be open there, oldest first.
  private func opening(of target: Int64, before first: Int64) throws(DatabaseError) -> [Change] {
    var found: [Change] = []
    try changes(
      "subject = ? AND id < ?", [.integer(target), .integer(first)],
      order: "ORDER BY id DESC LIMIT \(Limits.openingChanges)"
    ) { change in
      found.append(change)
      return [.down, .unreachable, .unknown].contains(change.state)
    }
    // Without an outage, what was before does not matter.
    guard let outage = found.lastIndex(where: { $0.state == .down }) else { return Array(found.prefix(1)) }
    return found[...outage].reversed()
  }

  private func start(with opening: [Change], at time: Int64, _ timeline: UptimeTimeline) -> UptimeAccumulator {
    let times = opening.map { min(time, timeline.time(run: $0.run, boottime: $0.boottime) ?? .min) }
    let first = times.first { $0 != .min } ?? time
    var uptime = UptimeAccumulator(at: min(first, time))
    for (change, time) in zip(opening, times) {
      uptime.change(to: change.state, at: max(first, time), monitored: timeline.monitored)
    }
    uptime.advance(to: time, monitored: timeline.monitored)
    _ = uptime.take()
    return uptime
  }

  /// The index has all of these columns.
  static func changes(where condition: String, order: String = "ORDER BY id") -> String {
    "SELECT run, boottime, new FROM transition WHERE \(condition) \(order)"
  }

  private func changes(
    _ condition: String, _ values: [DatabaseValue], order: String = "ORDER BY id",
    _ body: (Change) -> Bool
  ) throws(DatabaseError) {
    try connection.forEach(Self.changes(where: condition, order: order), values) { row in
      guard let state = UptimeState(stored: row.integer(2)) else { return true }
      return body(Change(run: row.integer(0), boottime: row.integer(1), state: state))
    }
  }
}

extension UptimeState {
  /// The state that a stored code means; nil for one that is not of a target or a gate.
  fileprivate init?(stored code: Int64) {
    switch StateCode(rawValue: UInt8(clamping: code)) {
    case .targetUp, .gateOpen: self = .up
    case .targetDown, .gateClosed: self = .down
    case .targetUnreachable: self = .unreachable
    case .targetUnknown: self = .unknown
    case .targetPaused: self = .paused
    case .targetRemoved, .gateRemoved: self = .unmonitored
    default: return nil
    }
  }
}
