internal import Database

/// The stored events after a number, up to the first that is missing.
public enum EventPage: Sendable, Equatable {
  /// The next events, oldest first and without a hole between them; at least one.
  case events([StoredEvent])
  /// The next events, up to this number, are not stored.
  case missing(through: UInt64)
  /// No event after the number is stored.
  case end

  /// Reads the next page.
  ///
  /// - Parameters:
  ///   - sequence: the number of the last event that the reader has.
  ///   - bytes: the limit of the frames' bytes; the first event is returned whatever its size.
  ///   - connection: a connection in a read transaction.
  /// - Throws: SQLite's error.
  init(after sequence: UInt64, limit bytes: Int, in connection: DatabaseConnection) throws(DatabaseError) {
    let hole = try connection.query(
      "SELECT first, last FROM hole WHERE last > ? ORDER BY first LIMIT 1", .bits(sequence)
    ) { (first: $0.bits(0), last: $0.bits(1)) }.first
    if let hole, hole.first <= sequence &+ 1 {
      self = .missing(through: hole.last)
      return
    }
    let found = try Self.events(after: sequence, before: hole?.first, limit: bytes, connection)
    if let first = found.first, first.sequence > sequence &+ 1 {
      // Retention has deleted the events before it.
      self = .missing(through: first.sequence - 1)
    } else if found.isEmpty, let hole {
      self = .missing(through: hole.last)
    } else {
      self = found.isEmpty ? .end : .events(found)
    }
  }

  fileprivate static func events(
    after sequence: UInt64, before hole: UInt64?, limit bytes: Int, _ connection: DatabaseConnection
  ) throws(DatabaseError) -> [StoredEvent] {
    var found: [StoredEvent] = []
    var size = 0
    let query = """
      SELECT e.seq, e.at, e.type, s.name, e.body FROM event e JOIN subject s ON s.ref = e.subject
      WHERE e.seq > ? AND e.seq < ? ORDER BY e.seq
      """
    try connection.forEach(query, [.bits(sequence), .bits(hole ?? UInt64(Int64.max))]) { row in
      let event = StoredEvent(row)
      size += event.body.count
      guard found.isEmpty || size <= bytes else { return false }
      found.append(event)
      return true
    }
    return found
  }
}

extension StoredEvent {
  /// Reads the events after a number, as ``HistoryStore/events(after:limit:completion:)``.
  static func read(
    after sequence: UInt64, limit bytes: Int, in connection: DatabaseConnection
  ) throws(DatabaseError) -> [StoredEvent]? {
    let holes = try connection.query("SELECT 1 FROM hole WHERE last > ? LIMIT 1", .bits(sequence)) { $0.integer(0) }
    guard holes.isEmpty else { return nil }
    let found = try EventPage.events(after: sequence, before: nil, limit: bytes, connection)
    // Retention has deleted the next event.
    return found.first?.sequence ?? sequence &+ 1 == sequence &+ 1 ? found : nil
  }
}

extension HistoryStore {
  /// Reads the next stored events after a number, or how many are missing there.
  ///
  /// - Parameters:
  ///   - sequence: the number of the last event that the reader has.
  ///   - bytes: the limit of the frames' bytes.
  ///   - completion: receives the page, as in ``read(_:completion:)``.
  public func page(
    after sequence: UInt64, limit bytes: Int,
    completion: @escaping @Sendable (Result<EventPage, StoreError>) -> Void
  ) {
    read(
      { (connection) throws(DatabaseError) in try EventPage(after: sequence, limit: bytes, in: connection) },
      completion: completion)
  }
}
