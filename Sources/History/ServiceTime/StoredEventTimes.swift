public import Database

extension HistoryReader {
  /// Returns the first event at or after a moment.
  ///
  /// Between two steps of the wall clock, events are in the order of their times; see ``ClockShifts`` for the time of an
  /// event after a step. Events that are not stored may be as old as those after them.
  ///
  /// - Parameter time: microseconds since 1970.
  /// - Returns: its number; one above the last when all are older, and nil without an event, or for a moment that is to
  ///   come.
  /// - Throws: SQLite's error.
  public func firstEvent(at time: Int64) throws(DatabaseError) -> UInt64? { try eventTimes.firstEvent(at: time) }

  var eventTimes: StoredEventTimes { StoredEventTimes(reader: self) }
}

struct StoredEventTimes {
  let reader: HistoryReader
  private var connection: DatabaseConnection { reader.connection }
  private var now: StoreTime { reader.now }

  /// The first event at or after a moment; see ``HistoryReader/firstEvent(at:)``.
  func firstEvent(at time: Int64) throws(DatabaseError) -> UInt64? {
    let selection = TimeSelection(from: time, now: now)
    let found: Int64?
    if let stored = try storedEvents() {
      found = try firstStored(selection, stored)
    } else {
      // All are missing.
      found = selection.isPast ? try lastMissing().map { $0 &+ 1 } : nil
    }
    guard let found else { return nil }
    let missing = try connection.query("SELECT first FROM hole WHERE last = ?", .integer(found - 1)) { $0.integer(0) }
    return UInt64(bitPattern: missing.first ?? found)
  }

  private func lastMissing() throws(DatabaseError) -> Int64? {
    try connection.query("SELECT max(last) FROM hole") { $0.optionalInteger(0) }.first ?? nil
  }

  private func firstStored(_ selection: TimeSelection, _ stored: Range<Int64>) throws(DatabaseError) -> Int64? {
    let reach = try reader.reach(of: selection)
    let stretches = try ClockStretch.newest(since: reach, now: now, in: connection)
    if let before = try eventsBefore(stretches, since: reach, stored),
      let found = try firstEvent(before, at: selection.from)
    {
      return found
    }
    let shifts = ClockShifts(stretches, try reader.timeline(since: selection.from))
    for stretch in stretches {
      let events = stretch.events.clamped(to: stored)
      guard !events.isEmpty else { continue }
      let found = try firstEvent(events, of: stretch, selection, shifts)
      if found < events.upperBound { return found }
    }
    return selection.isPast ? max(stored.upperBound, try lastMissing().map { $0 &+ 1 } ?? 0) : nil
  }

  /// Returns the first event that was published at or after a time of the service.
  ///
  /// - Parameters:
  ///   - stored: the numbers of the stored events.
  ///   - time: microseconds of ``ServiceTime``.
  /// - Returns: its number, at most the last one.
  /// - Throws: SQLite's error.
  func firstEvent(_ stored: Range<Int64>, atServiceTime time: Int64) throws(DatabaseError) -> Int64 {
    guard let stretch = try ClockStretch.newest(since: time, now: now, in: connection).first,
      stretch.serviceTime.lowerBound <= time
    else { return stored.lowerBound }
    let events = stretch.events.clamped(to: stored)
    let first = try firstOrdered(events, at: time &- stretch.service &+ stretch.wall).number
    return min(max(first, stretch.events.lowerBound), stored.upperBound - 1)
  }

  // MARK: - Parts

  private func storedEvents() throws(DatabaseError) -> Range<Int64>? {
    let bounds = try connection.query(HistoryReader.bounds(of: "seq", in: "event")) { ($0.integer(0), $0.integer(1)) }
    guard let (lowest, highest) = bounds.first, lowest > 0, (lowest..<Int64.max).contains(highest) else { return nil }
    return lowest..<highest + 1
  }

  /// The events before the first stretch, as those of 0.1.0, which has stored no steps of the clock; nil if there are none,
  /// or if they are too old.
  private func eventsBefore(
    _ stretches: [ClockStretch], since reach: Int64, _ stored: Range<Int64>
  ) throws(DatabaseError) -> Range<Int64>? {
    guard let first = stretches.first(where: { $0.events.lowerBound > 0 })?.events.lowerBound else { return stored }
    guard first > stored.lowerBound, stretches.first.map({ $0.serviceTime.lowerBound > reach }) ?? true else {
      return nil
    }
    return stored.lowerBound..<min(first, stored.upperBound)
  }

  /// The first event of some without a known order.
  private func firstEvent(_ events: Range<Int64>, at time: Int64) throws(DatabaseError) -> Int64? {
    try connection.query(
      "SELECT seq FROM event WHERE seq >= ? AND seq < ? AND at >= ? ORDER BY seq LIMIT 1", .integer(events.lowerBound),
      .integer(events.upperBound), .integer(time)
    ) { $0.integer(0) }.first
  }

  private func firstEvent(
    _ events: Range<Int64>, of stretch: ClockStretch, _ selection: TimeSelection, _ shifts: ClockShifts
  ) throws(DatabaseError) -> Int64 {
    var first = events.upperBound
    for shift in shifts.shifts(of: stretch.run, own: stretch.wall) {
      let found = try firstOrdered(events, at: selection.from &- shift &+ stretch.wall)
      if found.number < first, selection.trusts(found.time &- stretch.wall &+ shift) { first = found.number }
    }
    return first
  }

  /// The first event of a stretch at or after a time of its wall clock, with its time; the end of the events without one.
  private func firstOrdered(_ events: Range<Int64>, at time: Int64) throws(DatabaseError) -> (
    number: Int64, time: Int64
  ) {
    let start = try RowSearch.first(in: events) { (row) throws(DatabaseError) in
      let found = try connection.query("SELECT seq, at FROM event WHERE seq >= ? ORDER BY seq LIMIT 1", .integer(row)) {
        ($0.integer(0), $0.integer(1))
      }
      // All events before one that is so much older are older.
      return found.first.map { (row: $0.0, isBefore: $0.1 &+ Limits.clockTolerance < time) }
    }
    let found = try connection.query(
      "SELECT seq, at FROM event WHERE seq >= ? AND seq < ? AND at >= ? ORDER BY seq LIMIT 1", .integer(start),
      .integer(events.upperBound), .integer(time)
    ) { (number: $0.integer(0), time: $0.integer(1)) }
    return found.first ?? (events.upperBound, .max)
  }
}
