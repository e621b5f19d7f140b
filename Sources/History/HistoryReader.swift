public import Database

/// Reads the history in one transaction of a connection.
public struct HistoryReader {
  let connection: DatabaseConnection
  private let now: StoreTime

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
    var boot: (id: String, shift: Int64)?
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
      // The last run of a boot places all of them, as in the time line.
      boot = (record.boot, boot?.id == record.boot ? boot?.shift ?? record.shift : record.shift)
      return record.alive + (boot?.shift ?? 0) >= since || run.map { $0 < record.id } ?? false
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
    var (low, high) = (first, min(highest, .max - 1) + 1)
    while low < high {
      let middle = low + (high - low) / 2
      let found = try connection.query(
        "SELECT id, run, boottime FROM transition WHERE id >= ? ORDER BY id LIMIT 1", .integer(middle)
      ) { ($0.integer(0), timeline.time(run: $0.integer(1), boottime: $0.integer(2))) }
      // Entries of runs that the time line does not contain are older.
      if let (id, found) = found.first, (found ?? .min) < time { low = min(id, .max - 1) + 1 } else { high = middle }
    }
    return low
  }

  /// Two subqueries: SQLite reads the whole table for a minimum and a maximum in one.
  static func bounds(of column: String, in table: String) -> String {
    "SELECT (SELECT min(\(column)) FROM \(table)), (SELECT max(\(column)) FROM \(table))"
  }

  /// The number of a subject; nil when the history has nothing about it.
  public func reference(to subject: String) throws(DatabaseError) -> Int64? {
    try connection.query("SELECT ref FROM subject WHERE name = ?", .text(subject)) { $0.integer(0) }.first
  }

  /// Returns the first event at or after a moment, as its number; nil when there is none.
  public func firstEvent(at time: Int64) throws(DatabaseError) -> UInt64? {
    let bounds = try connection.query(Self.bounds(of: "seq", in: "event")) { ($0.integer(0), $0.integer(1)) }
    // Numbers begin with 1; a damaged file may have any.
    guard let found = bounds.first, found.1 > 0 else { return nil }
    var (low, high) = (UInt64(max(1, found.0)), UInt64(found.1) + 1)
    let last = high
    while low < high {
      let middle = low + (high - low) / 2
      let next = try connection.query(
        "SELECT seq, at FROM event WHERE seq >= ? ORDER BY seq LIMIT 1", .bits(middle)
      ) { ($0.bits(0), $0.integer(1)) }
      if let (number, at) = next.first, at < time { low = number + 1 } else { high = middle }
    }
    return low == last ? nil : low
  }
}
