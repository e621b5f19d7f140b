internal import Database
internal import ReachabilityModel

/// The starts and stops of the service in the history.
enum RunHistoryWriter {
  /// Adds the end of the last run and the start of a new one, before the new run's first transition.
  ///
  /// The end of a killed run is its last sign of life.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  static func begin(_ run: Int64, in connection: DatabaseConnection) throws(DatabaseError) {
    let subject = try HistorySubject.reference(to: HistorySubject.service, in: connection)
    let runs = try connection.query(
      "SELECT id, epoch, started, started_uptime, alive, alive_uptime, clean FROM run WHERE id <= ? ORDER BY id DESC LIMIT 2",
      .integer(run)
    ) { row in
      row.integer(0) == run
        ? Change(
          epoch: row.text(1) ?? "", time: row.integer(2), uptime: row.integer(3), run: run, old: .serviceStopped,
          new: .serviceRunning, flags: [])
        : Change(
          epoch: row.text(1) ?? "", time: row.integer(4), uptime: row.integer(5), run: row.integer(0),
          old: .serviceRunning, new: .serviceStopped, flags: row.integer(6) == 0 ? .unclean : [])
    }
    for change in runs.reversed() { try insert(change, subject, in: connection) }
  }

  private struct Change {
    var epoch: String
    var time: Int64
    var uptime: Int64
    var run: Int64
    var old: StateCode
    var new: StateCode
    var flags: TransitionFlags
  }

  private static func insert(_ change: Change, _ subject: Int64, in connection: DatabaseConnection)
    throws(DatabaseError)
  {
    try connection.run(
      """
      INSERT INTO transition(epoch, seq, at, boottime, run, subject, type, old, new, reason, cause, flags)
      VALUES(?, 0, ?, ?, ?, ?, ?, ?, ?, NULL, 0, ?)
      """, .text(change.epoch), .integer(change.time), .integer(change.uptime), .integer(change.run),
      .integer(subject), .integer(Int64(EventType.service.rawValue)), .integer(Int64(change.old.rawValue)),
      .integer(Int64(change.new.rawValue)), .integer(Int64(change.flags.rawValue)))
  }
}
