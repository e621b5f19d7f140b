internal import Database

/// Deletes rows of the table `subject` to which nothing refers any more: names that are used once, as those of containers'
/// interfaces, would fill it.
///
/// A row is deleted if two rounds have found it unused. So a row that was inserted in the same transaction, for something
/// that follows, stays.
struct SubjectSweep: Sendable, Equatable {
  /// The row up to which the present round has examined them.
  private var examined: Int64 = 0
  /// When the present round began, in microseconds of CLOCK_BOOTTIME; nil before the first one.
  private var begun: Int64?
  private var isOver = false
  /// The rows that the last round has found unused, and those of the present round.
  private var last: Set<Int64> = []
  private var found: Set<Int64> = []

  /// A row without a state, a transition and a target; events have transitions as long as they are stored.
  private struct Row {
    var number: Int64
    var isTarget: Bool
    var isUnused: Bool
  }

  /// Examines the next rows; a new round begins some time after the last one began.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes, in a transaction.
  ///   - inUse: the subjects of samples in memory.
  ///   - uptime: the present time of CLOCK_BOOTTIME in microseconds.
  /// - Returns: whether the round has more rows.
  /// - Throws: SQLite's error.
  mutating func advance(
    _ connection: DatabaseConnection, inUse: Set<Int64>, at uptime: Int64
  ) throws(DatabaseError) -> Bool {
    if isOver {
      guard uptime - (begun ?? .min) >= Int64(Limits.examination / .microseconds(1)) else { return false }
      self = SubjectSweep(last: found)
    }
    begun = begun ?? uptime
    let rows = try rows(connection)
    var probes = 0
    for row in rows {
      if row.isUnused, !inUse.contains(row.number) {
        if row.isTarget {
          probes += 1
          guard probes <= Limits.probedTargets else { return true }
        }
        let hasSamples = row.isTarget ? try Self.hasSamples(row.number, connection) : false
        if !hasSamples { try delete(row.number, connection) }
      }
      examined = row.number
    }
    isOver = rows.count < Limits.deletedRows
    return !isOver
  }

  init() {}

  private init(last: Set<Int64>) { self.last = last }

  private func rows(_ connection: DatabaseConnection) throws(DatabaseError) -> [Row] {
    try connection.query(
      """
      SELECT ref, name, state IS NULL AND NOT EXISTS (SELECT 1 FROM transition WHERE subject = ref)
        AND NOT EXISTS (SELECT 1 FROM target WHERE target.ref = subject.ref)
      FROM subject WHERE ref > ? ORDER BY ref LIMIT ?
      """, .integer(examined), .integer(Int64(Limits.deletedRows))
    ) { row in
      Row(
        number: row.integer(0), isTarget: HistorySubject.targetID(in: row.text(1) ?? "") != nil,
        isUnused: row.integer(2) != 0)
    }
  }

  private mutating func delete(_ number: Int64, _ connection: DatabaseConnection) throws(DatabaseError) {
    if last.contains(number) {
      try connection.run("DELETE FROM subject WHERE ref = ?", .integer(number))
    } else if found.count < Limits.unusedSubjects {
      found.insert(number)
    }
  }

  /// The oldest periods first: those of a target that was removed long ago are among them.
  private static func hasSamples(_ number: Int64, _ connection: DatabaseConnection) throws(DatabaseError) -> Bool {
    for kind in SamplePeriod.Kind.allCases.reversed() {
      let found = try connection.query(
        """
        SELECT 1 FROM period JOIN \(kind.table) ON key = (period.number << \(SampleKey.subjectBits)) | ?
        WHERE period.kind = ? ORDER BY period.number LIMIT 1
        """, .integer(number), .integer(kind.rawValue)
      ) { _ in true }
      if !found.isEmpty { return true }
    }
    return false
  }
}
