internal import Database

/// A part of the service's time in which the wall clock was not set: it runs as CLOCK_BOOTTIME does.
///
/// A stretch begins with each run, and with the first event after a step of the wall clock. It places its events, whose
/// rows have the time of the wall clock only. All times are microseconds.
struct ClockStretch: Hashable {
  /// The run, and the id of its boot.
  var run: Int64
  var boot: String
  /// The times of CLOCK_BOOTTIME from its beginning to that of the next stretch, or to the run's last sign of life.
  var uptime: Range<Int64>
  /// What to add to CLOCK_BOOTTIME for the wall clock.
  var wall: Int64
  /// What to add to CLOCK_BOOTTIME for ``ServiceTime``.
  var service: Int64
  var events: Range<Int64>
  var transitions: Range<Int64>

  /// The service's time in which it lies.
  var serviceTime: Range<Int64> { uptime.lowerBound &+ service..<max(uptime.lowerBound, uptime.upperBound) &+ service }

  /// Whether two differences between the wall clock and CLOCK_BOOTTIME are those of one stretch.
  ///
  /// A step of less than a second is none: events of different threads are that much out of order at most.
  static func isSame(_ one: Int64, _ other: Int64) -> Bool {
    (one &- other).magnitude <= Limits.clockTolerance.magnitude
  }

  // MARK: - Rows

  /// Begins a stretch before the next transition.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  static func begin(
    _ run: Int64, at time: StoreTime, nextEvent: UInt64, in connection: DatabaseConnection
  ) throws(DatabaseError) {
    try connection.run(
      """
      INSERT INTO stretch(run, at, uptime, event, transition)
      VALUES(?, ?, ?, ?, (SELECT ifnull(max(id), 0) + 1 FROM transition))
      """, .integer(run), .integer(time.wall), .integer(time.uptime), .bits(nextEvent))
  }

  /// Deletes the stretches that neither a stored event nor a transition from a row on needs.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  static func forget(before transition: Int64, in connection: DatabaseConnection) throws(DatabaseError) {
    try connection.run(
      """
      DELETE FROM stretch WHERE id <
        (SELECT max(id) FROM stretch WHERE transition <= ? AND event <= (SELECT min(seq) FROM event))
      """, .integer(transition))
  }

  /// Reads the newest stretches, ascending, back to those that end before a service time, at most ``Limits/stretches``.
  ///
  /// - Parameters:
  ///   - time: the service time; `.min` for all.
  ///   - now: the present moment of the last run.
  ///   - connection: the database.
  /// - Returns: the stretches.
  /// - Throws: SQLite's error.
  static func newest(
    since time: Int64, now: StoreTime, in connection: DatabaseConnection
  ) throws(DatabaseError) -> [ClockStretch] {
    var found: [ClockStretch] = []
    try connection.forEach(
      """
      SELECT s.run, s.at, s.uptime, s.event, s.transition, r.alive_uptime, r.service - r.started_uptime, r.boot
      FROM stretch s JOIN run r ON r.id = s.run WHERE r.service IS NOT NULL ORDER BY s.id DESC LIMIT \(Limits.stretches)
      """
    ) { row in
      let (run, uptime) = (row.integer(0), row.integer(2))
      // A damaged file must not end the process: sums of such times do not overflow.
      let times = [row.integer(1), uptime, row.integer(3), row.integer(4), row.integer(5)]
      guard times.allSatisfy({ (0...Limits.latestTime).contains($0) }),
        (-Limits.latestTime...Limits.latestTime).contains(row.integer(6))
      else { return true }
      let next = found.last
      let end = next.map { $0.run == run ? $0.uptime.lowerBound : row.integer(5) } ?? now.uptime
      let stretch = ClockStretch(
        run: run, boot: row.text(7) ?? "", uptime: uptime..<max(uptime, end), wall: row.integer(1) - uptime,
        service: row.integer(6),
        events: row.integer(3)..<max(row.integer(3), next?.events.lowerBound ?? .max),
        transitions: row.integer(4)..<max(row.integer(4), next?.transitions.lowerBound ?? .max))
      found.append(stretch)
      return stretch.serviceTime.lowerBound > time
    }
    return found.reversed()
  }
}
