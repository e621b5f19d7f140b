internal import Database

/// An hour or a day of samples, and when it was written last.
///
/// Its rows have the hour or the day of the wall clock as their key. They are deleted by the service's time, which the
/// key does not have.
public struct SamplePeriod: Sendable, Hashable {
  /// What the rows of a period contain.
  enum Kind: Int64, CaseIterable {
    /// The samples of an hour.
    case sample = 0
    /// Roll-ups of an hour.
    case hour = 1
    /// Roll-ups of a day.
    case day = 2

    var table: String {
      switch self {
      case .sample: "sample"
      case .hour: "hour"
      case .day: "day"
      }
    }

    /// The length in microseconds.
    fileprivate var length: Int64 { self == .day ? 86_400_000_000 : 3_600_000_000 }
  }

  /// The hour or day since 1970.
  public var number: Int64
  /// The service's time at which it was written last, in microseconds.
  public var service: Int64

  // MARK: - Rows

  /// Enters the periods of an earlier version, whose wall clock may be wrong: the newest one counts as written at the end of
  /// the last run, and each earlier one as long before as it is.
  static let adoption = Kind.allCases.map { kind in
    """
    INSERT INTO period(kind, number, service)
      WITH RECURSIVE found(n) AS (
        SELECT min(key) >> \(SampleKey.subjectBits) FROM \(kind.table)
        UNION ALL
        SELECT (SELECT min(key) FROM \(kind.table) WHERE key >= (n + 1) << \(SampleKey.subjectBits))
          >> \(SampleKey.subjectBits) FROM found WHERE n IS NOT NULL)
      SELECT \(kind.rawValue), n,
        ifnull((SELECT service + alive_uptime - started_uptime FROM run ORDER BY id DESC LIMIT 1), 0)
          - (row_number() OVER (ORDER BY n DESC) - 1) * \(kind.length)
      FROM found WHERE n IS NOT NULL;
    """
  }.joined(separator: "\n")

  /// Notes that an hour and its day are written.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  static func note(hour: Int64, at service: Int64, in connection: DatabaseConnection) throws(DatabaseError) {
    for kind in Kind.allCases {
      try write(SamplePeriod(number: kind == .day ? hour / 24 : hour, service: service), kind, connection)
    }
  }

  private static func write(
    _ period: SamplePeriod, _ kind: Kind, _ connection: DatabaseConnection
  ) throws(DatabaseError) {
    try connection.run(
      "INSERT OR REPLACE INTO period(kind, number, service) VALUES(?, ?, ?)", .integer(kind.rawValue),
      .integer(period.number), .integer(period.service))
  }

  /// The period that was written first of all; nil without any.
  ///
  /// The first rows of the table may be of a period that is not entered, as after the use of an earlier version: it counts
  /// as written now.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction that writes.
  static func oldest(
    _ kind: Kind, at service: Int64, in connection: DatabaseConnection
  ) throws(DatabaseError) -> SamplePeriod? {
    let first = try connection.query("SELECT min(key) FROM \(kind.table)") { $0.optionalInteger(0) }.first ?? nil
    if let number = first.map(SampleKey.period) {
      try connection.run(
        "INSERT OR IGNORE INTO period(kind, number, service) VALUES(?, ?, ?)", .integer(kind.rawValue),
        .integer(number), .integer(service))
    }
    return try connection.query(
      "SELECT number, service FROM period WHERE kind = ? ORDER BY service, number LIMIT 1", .integer(kind.rawValue)
    ) { SamplePeriod(number: $0.integer(0), service: $0.integer(1)) }.first
  }

  /// Deletes rows of a period, and the period with the last of them.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  static func delete(_ number: Int64, _ kind: Kind, _ connection: DatabaseConnection) throws(DatabaseError) {
    let table = kind.table
    let deleted = try connection.run(
      "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table) WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)",
      .integer(SampleKey.first(of: number)), .integer(SampleKey.first(of: number &+ 1)),
      .integer(Int64(Limits.deletedRows)))
    guard deleted < Limits.deletedRows else { return }
    try connection.run("DELETE FROM period WHERE kind = ? AND number = ?", .integer(kind.rawValue), .integer(number))
  }
}
