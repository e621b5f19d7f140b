internal import Database

extension StoredEvent {
  /// Reads the events after a number, as ``HistoryStore/events(after:limit:completion:)``.
  static func read(
    after sequence: UInt64, limit bytes: Int, in connection: DatabaseConnection
  ) throws(DatabaseError) -> [StoredEvent]? {
    let holes = try connection.query("SELECT 1 FROM hole WHERE last > ? LIMIT 1", .bits(sequence)) { $0.integer(0) }
    guard holes.isEmpty else { return nil }
    var found: [StoredEvent] = []
    var size = 0
    let query = """
      SELECT e.seq, e.at, e.type, s.name, e.body FROM event e JOIN subject s ON s.ref = e.subject
      WHERE e.seq > ? ORDER BY e.seq
      """
    try connection.forEach(query, [.bits(sequence)]) { row in
      let event = StoredEvent(row)
      size += event.body.count
      guard found.isEmpty || size <= bytes else { return false }
      found.append(event)
      return true
    }
    // Retention has deleted the next event.
    guard found.first?.sequence ?? sequence &+ 1 == sequence &+ 1 else { return nil }
    return found
  }
}
