internal import Database

/// The time that the service has run, in microseconds: within a run that of CLOCK_BOOTTIME, and across runs the sum of
/// their durations.
///
/// The ages of rows are differences of this time, so that nothing is deleted because the wall clock was set, and a machine
/// that was off for a year has its last events when it starts. Row numbers rise with it.
enum ServiceTime {
  /// Writes the time at the start of each run that does not have it, as those of 0.1.0; the ends of all runs must be known.
  static let completion = """
    UPDATE run SET service = earlier.total FROM (
      SELECT id, CAST(ifnull(total(min(max(alive_uptime - started_uptime, 0), \(Limits.longestRun))) OVER
        (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS INTEGER) AS total FROM run) AS earlier
      WHERE run.id = earlier.id AND run.service IS NULL;
    """

  /// Begins a run and its first stretch, before the first transition of the run.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  static func begin(
    _ run: Int64, at time: StoreTime, nextEvent: UInt64, in connection: DatabaseConnection
  ) throws(DatabaseError) {
    try connection.execute(completion)
    try ClockStretch.begin(run, at: time, nextEvent: nextEvent, in: connection)
  }

  /// Has no stretch contain an event any more, because all were deleted.
  static func forgetEvents(in connection: DatabaseConnection) throws(DatabaseError) {
    try connection.run("UPDATE stretch SET event = 0 WHERE event != 0")
  }

  /// The present time.
  ///
  /// - Parameters:
  ///   - now: the present moment of the last run.
  ///   - connection: the database.
  /// - Returns: the time in microseconds.
  /// - Throws: SQLite's error.
  static func now(_ now: StoreTime, in connection: DatabaseConnection) throws(DatabaseError) -> Int64 {
    let query = "SELECT ifnull(service, 0), started_uptime FROM run ORDER BY id DESC LIMIT 1"
    let last = try connection.query(query) { ($0.integer(0), $0.integer(1)) }.first
    return last.map { service, started in service &+ max(0, now.uptime &- started) } ?? 0
  }

  /// The first transition at or after a time, as the number of its row; one above the last when there is none.
  ///
  /// - Throws: SQLite's error.
  static func firstTransition(at time: Int64, in connection: DatabaseConnection) throws(DatabaseError) -> Int64 {
    let bounds = try connection.query(HistoryReader.bounds(of: "id", in: "transition")) {
      ($0.integer(0), $0.integer(1))
    }
    guard let (lowest, highest) = bounds.first, highest > 0 else { return 1 }
    // Transitions of a run that the table does not have, as in a damaged file, count as older.
    let query = """
      SELECT t.id, r.service + t.boottime - r.started_uptime FROM transition t LEFT JOIN run r ON r.id = t.run
      WHERE t.id >= ? ORDER BY t.id LIMIT 1
      """
    return try RowSearch.first(in: lowest..<highest + 1) { (row) throws(DatabaseError) in
      let found = try connection.query(query, .integer(row)) { ($0.integer(0), $0.optionalInteger(1) ?? .min) }.first
      return found.map { (row: $0.0, isBefore: $0.1 < time) }
    }
  }
}

/// Binary searches over the numbers of rows, some of which are missing.
enum RowSearch {
  /// Searches for the first row that is not before what is searched for.
  ///
  /// - Parameters:
  ///   - range: the numbers of the rows.
  ///   - probe: reads the first row from a number on: its number, and whether it is before; nil when there is none.
  /// - Returns: its number; the end of the range when there is none.
  /// - Throws: the error of `probe`.
  static func first(
    in range: Range<Int64>, probe: (Int64) throws(DatabaseError) -> (row: Int64, isBefore: Bool)?
  ) throws(DatabaseError) -> Int64 {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if let found = try probe(middle), found.row < high, found.isBefore { low = found.row + 1 } else { high = middle }
    }
    return low
  }
}
