public import Database

/// Reads the history in one transaction of a connection.
public struct HistoryReader {
  let connection: DatabaseConnection
  let now: StoreTime

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - connection: a connection of the queue `history`.
  ///   - now: the present time, which places the running boot.
  public init(_ connection: DatabaseConnection, now: StoreTime = .now) {
    self.connection = connection
    self.now = now
  }

  // MARK: - Runs and times

  /// Reads the time line from a moment on, and from a run on if that began earlier.
  ///
  /// - Parameters:
  ///   - since: microseconds since 1970.
  ///   - run: the earliest run that is needed; nil for that of `since`.
  /// - Returns: the time line.
  /// - Throws: SQLite's error.
  func timeline(since: Int64, from run: Int64? = nil) throws(DatabaseError) -> UptimeTimeline {
    var runs: [UptimeRun] = []
    // Durations are certain, whatever the wall clock was: a run that so much time of the service follows is older.
    let needed = since > 0 ? max(0, now.wall &- since) : .max
    var lived: Int64 = 0
    var earlier = 0
    try connection.forEach(
      "SELECT id, boot, started_uptime, alive_uptime, alive FROM run ORDER BY id DESC LIMIT \(Limits.runs)"
    ) { row in
      let times = [row.integer(2), row.integer(3), row.integer(4)]
      // A damaged file must not end the process: sums of such times do not overflow.
      guard times.allSatisfy({ (0...Limits.latestTime).contains($0) }) else { return true }
      var record = UptimeRun(
        id: row.integer(0), boot: row.text(1) ?? "", started: times[0], alive: times[1], shift: times[2] - times[1])
      // The last run is the present one.
      if runs.isEmpty, now.uptime >= record.alive {
        (record.alive, record.shift) = (now.uptime, now.wall - now.uptime)
      }
      runs.append(record)
      lived &+= max(0, record.alive - record.started)
      guard lived >= needed, run.map({ $0 >= record.id }) ?? true else { return true }
      earlier += 1
      return earlier <= Limits.earlierRuns
    }
    return UptimeTimeline(runs: runs.reversed(), suspensions: [])
  }

  /// Returns the first entry at or after a moment, as the number of its row; one above the last when there is none.
  ///
  /// The row numbers rise with the run and its CLOCK_BOOTTIME, so that a binary search finds it without an index.
  func firstEntry(at time: Int64, _ timeline: UptimeTimeline) throws(DatabaseError) -> Int64 {
    let bounds = try connection.query(Self.bounds(of: "id", in: "transition")) { ($0.integer(0), $0.integer(1)) }
    guard let (lowest, highest) = bounds.first, highest > 0 else { return 1 }
    // Row numbers begin with 1; a damaged file may have any.
    let first = max(1, lowest)
    if time == .min { return first }
    // Entries of runs that the time line does not contain are older.
    return try firstEntry(in: first..<min(highest, .max - 1) + 1) { run, boottime in
      (timeline.time(run: run, boottime: boottime) ?? .min) < time
    }
  }

  /// The first entry of some rows that is not before what is searched for; the end of the rows when there is none.
  func firstEntry(
    in rows: Range<Int64>, _ isBefore: (_ run: Int64, _ boottime: Int64) -> Bool
  ) throws(DatabaseError) -> Int64 {
    try RowSearch.first(in: rows) { (row) throws(DatabaseError) in
      let found = try connection.query(
        "SELECT id, run, boottime FROM transition WHERE id >= ? ORDER BY id LIMIT 1", .integer(row)
      ) { ($0.integer(0), isBefore($0.integer(1), $0.integer(2))) }
      return found.first.map { (row: $0.0, isBefore: $0.1) }
    }
  }

  /// The time that the service has run, in microseconds: ages are differences of it.
  ///
  /// - Throws: SQLite's error.
  public func serviceTime() throws(DatabaseError) -> Int64 { try ServiceTime.now(now, in: connection) }

  /// The service's time before which nothing is selected: at least so much time has passed since the first moment.
  func reach(of selection: TimeSelection) throws(DatabaseError) -> Int64 {
    guard selection.isPast, selection.from > 0 else { return .min }
    return try ServiceTime.now(now, in: connection) &- (now.wall &- selection.from)
  }

  /// Two subqueries: SQLite reads the whole table for a minimum and a maximum in one.
  static func bounds(of column: String, in table: String) -> String {
    "SELECT (SELECT min(\(column)) FROM \(table)), (SELECT max(\(column)) FROM \(table))"
  }

  /// The number of a subject; nil when the history has nothing about it.
  public func reference(to subject: String) throws(DatabaseError) -> Int64? {
    try connection.query("SELECT ref FROM subject WHERE name = ?", .text(subject)) { $0.integer(0) }.first
  }
}
