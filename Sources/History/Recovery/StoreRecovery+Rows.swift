internal import Database

// The rows that a start reads and writes.
extension StoreRecovery {
  static func newestEvents(in connection: DatabaseConnection) throws(DatabaseError) -> [StoredEvent] {
    var found: [StoredEvent] = []
    var bytes = 0
    let query = """
      SELECT e.seq, e.at, e.type, s.name, e.body FROM event e JOIN subject s ON s.ref = e.subject WHERE e.seq > 0
      ORDER BY e.seq DESC
      """
    try connection.forEach(query) { row in
      let event = StoredEvent(row)
      bytes += event.body.count + Limits.recordOverhead
      if let newer = found.last, newer.sequence != event.sequence &+ 1 { return false }
      guard bytes <= Limits.recoveredBytes else { return false }
      found.append(event)
      return true
    }
    return found.reversed()
  }

  static func lastSequence(in connection: DatabaseConnection) throws(DatabaseError) -> UInt64 {
    let query = "SELECT max((SELECT ifnull(max(seq), 0) FROM event), (SELECT ifnull(max(last), 0) FROM hole))"
    return try connection.query(query) { $0.bits(0) }.first ?? 0
  }

  static func subjects(in connection: DatabaseConnection) throws(DatabaseError) -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    try connection.forEach("SELECT name, state FROM subject WHERE state IS NOT NULL") { row in
      if let name = row.text(0) { found[name] = row.blob(1) }
      return true
    }
    return found
  }

  static func targets(in connection: DatabaseConnection) throws(DatabaseError) -> [TargetRecord] {
    let query = """
      SELECT s.name, t.definition, t.origin, t.revision, t.state, t.token FROM target t JOIN subject s USING(ref) ORDER BY s.name
      """
    return try connection.query(query) { row in
      TargetRecord(
        id: HistorySubject.targetID(in: row.text(0) ?? "") ?? "", definition: row.text(1) ?? "",
        origin: row.text(2) ?? "", revision: row.bits(3), state: row.blob(4), token: row.text(5))
    }
  }

  static func meta(_ key: String, in connection: DatabaseConnection) throws(DatabaseError) -> String? {
    try connection.query("SELECT value FROM meta WHERE key = ?", .text(key)) { $0.text(0) }.first ?? nil
  }

  static func setMeta(
    _ key: String, _ value: DatabaseValue, in connection: DatabaseConnection
  ) throws(DatabaseError) {
    try connection.run(
      "INSERT INTO meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", .text(key), value)
  }
}

extension StoredEvent {
  /// The event of a row with number, time, kind, subject's name and frame.
  init(_ row: borrowing DatabaseRow) {
    self.init(
      sequence: row.bits(0), time: row.integer(1), kind: UInt8(truncatingIfNeeded: row.integer(2)),
      subject: row.text(3) ?? "", body: row.blob(4))
  }
}
