public import Database
public import History
internal import Locks
internal import ReachabilityModel

/// The tables `webhook` and `delivery` of the store.
public final class WebhookTables: WebhookStorage {
  private let store: HistoryStore
  /// The entries of each webhook's log that were written since it was trimmed.
  private let untrimmed = Locked<[String: Int]>([:])

  /// Uses the tables of an open store.
  public init(_ store: HistoryStore) { self.store = store }

  /// Reads the states of all webhooks; nil when they cannot be read now.
  public func load(_ completion: @escaping @Sendable ([String: WebhookPosition]?) -> Void) {
    store.read { (connection) throws(DatabaseError) in
      try connection.query("SELECT id, epoch, cursor, attempt, next, state FROM webhook") { row in
        (row.text(0) ?? "", WebhookPosition(row))
      }
    } completion: { result in
      completion((try? result.get()).map { Dictionary($0) { $1 } })
    }
  }

  /// Stores states and appends entries to the log, in one transaction; false when that failed.
  public func save(
    _ positions: [String: WebhookPosition], _ records: [WebhookLogEntry],
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    let full = countUntrimmed(records)
    store.write { (connection) throws(DatabaseError) in
      try Self.write(positions, to: connection)
      for entry in records {
        let record = entry.record
        try connection.run(
          "INSERT INTO delivery(webhook, event, at, result, ms, status, detail) VALUES(?, ?, ?, ?, ?, ?, ?)",
          .text(entry.webhook), .text(record.message), .integer(record.time.microseconds),
          .text(record.result.rawValue), .integer(Int64(record.duration / .milliseconds(1))),
          .integer(record.status.map { Int64($0) }), .text(record.detail))
      }
      for id in full { try Self.trim(id, connection) }
    } completion: { result in
      if case .success = result { completion(true) } else { completion(false) }
    }
  }

  /// Writes states into the table.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  public static func write(
    _ positions: [String: WebhookPosition], to connection: DatabaseConnection
  ) throws(DatabaseError) {
    for (id, position) in positions {
      try connection.run(
        """
        INSERT INTO webhook(id, epoch, cursor, attempt, next, state, seen) VALUES(?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT(id) DO UPDATE SET epoch = excluded.epoch, cursor = excluded.cursor, attempt = excluded.attempt,
          next = excluded.next, state = excluded.state, seen = excluded.seen
        """,
        .text(id), .text(position.epoch), .bits(position.settled), .integer(Int64(position.failures)),
        .integer(position.notBefore?.microseconds), .text(position.details), .integer(StoreTime.now.wall))
    }
  }

  /// Reads the log of a webhook, the newest entries first; nil when it cannot be read now.
  public func log(
    of id: String, before entry: Int64?, limit: Int,
    _ completion: @escaping @Sendable ([WebhookLogEntry]?) -> Void
  ) {
    store.read { (connection) throws(DatabaseError) in
      try connection.query(
        """
        SELECT id, event, at, result, ms, status, detail FROM delivery WHERE webhook = ? AND id < ?
        ORDER BY id DESC LIMIT ?
        """, .text(id), .integer(entry ?? .max), .integer(Int64(limit))
      ) { row in WebhookLogEntry(number: row.integer(0), webhook: id, record: WebhookDeliveryRecord(row)) }
    } completion: { result in
      completion(try? result.get())
    }
  }

  /// Deletes what belongs to webhooks that were removed from the configuration some time ago, now and then.
  ///
  /// - Parameter configured: the ids of the webhooks, on the thread `store`.
  public func forgetRemoved(_ configured: @escaping @Sendable () -> [String]) {
    store.maintain(every: Limits.forgettingInterval) { (connection) throws(DatabaseError) in
      try Self.forgetRemoved(connection, configured(), now: try HistoryReader(connection).serviceTime())
    }
  }

  /// Deletes what belongs to webhooks that are not among the configured ones.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes, in a transaction.
  ///   - configured: the ids of the webhooks.
  ///   - now: the time that the service has run, in microseconds: the wall clock may be wrong.
  /// - Throws: SQLite's error.
  static func forgetRemoved(
    _ connection: DatabaseConnection, _ configured: [String], now: Int64
  ) throws(DatabaseError) {
    // First, so that a webhook of a service that was off for long keeps its position.
    for id in configured {
      try connection.run("UPDATE webhook SET seen_service = ? WHERE id = ?", .integer(now), .text(id))
    }
    // New ones, and those of an earlier version.
    try connection.run("UPDATE webhook SET seen_service = ? WHERE seen_service IS NULL", .integer(now))
    let oldest = now - Int64(Limits.forgetting / .microseconds(1))
    try connection.run("DELETE FROM webhook WHERE seen_service < ?", .integer(oldest))
    try connection.run(
      """
      DELETE FROM delivery WHERE id IN
        (SELECT id FROM delivery WHERE webhook NOT IN (SELECT id FROM webhook) LIMIT ?)
      """, .integer(Int64(Limits.loggedDeliveries)))
  }

  /// Counts entries; returns the webhooks whose logs must be trimmed.
  private func countUntrimmed(_ records: [WebhookLogEntry]) -> [String] {
    untrimmed.withLock { untrimmed in
      for entry in records { untrimmed[entry.webhook, default: 0] += 1 }
      let full = untrimmed.filter { $0.value >= Limits.loggedExcess }.map(\.key)
      for id in full { untrimmed[id] = nil }
      return full
    }
  }

  private static func trim(_ id: String, _ connection: DatabaseConnection) throws(DatabaseError) {
    try connection.run(
      """
      DELETE FROM delivery WHERE webhook = ?1 AND id <=
        (SELECT id FROM delivery WHERE webhook = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
      """, .text(id), .integer(Int64(Limits.loggedDeliveries)))
  }
}

extension WebhookDeliveryRecord {
  /// Reads the columns after the number of an entry.
  fileprivate init(_ row: borrowing DatabaseRow) {
    self.init(
      message: row.text(1) ?? "", time: Timestamp(microseconds: row.integer(2)),
      result: row.text(3).flatMap(Result.init) ?? .failed,
      duration: .milliseconds(min(max(0, row.integer(4)), Limits.loggedMilliseconds)),
      status: row.optionalInteger(5).map { Int($0) }, detail: row.text(6))
  }
}
