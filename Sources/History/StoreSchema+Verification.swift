internal import Database

extension StoreSchema {
  /// The columns that statements use, by table; a later version may have more.
  private static let columns: [(table: String, columns: String)] = [
    ("meta", "key, value"),
    ("run", "id, epoch, boot, started, started_uptime, alive, alive_uptime, ended, clean, token, service"),
    ("hole", "first, last"),
    ("subject", "ref, name, state"),
    ("event", "seq, at, type, subject, body"),
    ("transition", "id, epoch, seq, at, boottime, run, subject, type, old, new, reason, cause, flags"),
    ("target", "ref, definition, origin, revision, state, token"),
    ("sample_minute", "minute, data"), ("sample", "key, data"), ("hour", "key, data"), ("day", "key, data"),
    ("webhook", "id, epoch, cursor, attempt, next, state, seen, seen_service"),
    ("stretch", "id, run, at, uptime, event, transition"), ("period", "kind, number, service"),
    ("delivery", "id, webhook, event, at, result, ms, status, detail"),
  ]

  /// Numbers that the service continues, and the highest that each may have; they begin with 1.
  ///
  /// A number near the end of 64 bits is damage: SQLite would assign no number after it, and sums would overflow.
  private static let numbers: [(column: String, table: String, highest: Int64)] = [
    ("id", "run", Limits.highestRun), ("first", "hole", Limits.highestNumber), ("last", "hole", Limits.highestNumber),
    ("ref", "subject", Limits.highestNumber), ("seq", "sqlite_sequence", Limits.highestNumber),
    ("seq", "event", Limits.highestNumber), ("id", "transition", Limits.highestNumber),
    ("id", "delivery", Limits.highestNumber), ("id", "stretch", Limits.highestNumber),
  ]

  /// Verifies that a file has the tables and columns, and that the numbers that the service continues are possible.
  ///
  /// It reads some pages of each table. A file that another program has written, or whose schema is damaged, must not end
  /// the process or prevent every later write.
  ///
  /// - Throws: SQLite's error; damage if a number is not possible.
  static func verify(_ connection: DatabaseConnection) throws(DatabaseError) {
    for (table, columns) in columns { try connection.execute("SELECT \(columns) FROM \(table) LIMIT 0") }
    for (column, table, highest) in numbers {
      let bounds = try connection.query(HistoryReader.bounds(of: column, in: table)) { row in
        (lowest: row.optionalInteger(0), highest: row.optionalInteger(1))
      }
      for number in bounds.flatMap({ [$0.lowest, $0.highest] }).compactMap(\.self)
      where !(1...highest).contains(number) {
        throw DatabaseError(damage: "\(table).\(column) is \(number)", connection.path)
      }
    }
  }
}
