public import Database

/// Deletes what is older or larger than the policy allows, a limited number of rows in each transaction.
public enum Retention {
  /// Deletes one part of what the policy does not keep.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes, in a transaction.
  ///   - policy: what to keep.
  ///   - now: the present time.
  /// - Returns: whether more is to be deleted.
  /// - Throws: SQLite's error.
  public static func apply(
    _ connection: DatabaseConnection, _ policy: RetentionPolicy, now: StoreTime = .now
  ) throws(DatabaseError) -> Bool {
    let contents = try contents(connection, policy, now)
    let steps = policy.steps(contents, at: now.wall / 1_000_000)
    guard let step = steps.first else { return false }
    let deleted = try delete(step, connection)
    // Transitions that stay because they are the last of their subject leave nothing to delete.
    if deleted == 0, case .transitions = step { return steps.count > 1 }
    try connection.run("PRAGMA incremental_vacuum(\(Limits.vacuumedPages))")
    return deleted == Limits.deletedRows || steps.count > 1
  }

  private static func delete(_ step: RetentionStep, _ connection: DatabaseConnection) throws(DatabaseError) -> Int {
    let limit = DatabaseValue.integer(Int64(Limits.deletedRows))
    func rows(of table: String, _ key: String, below bound: Int64) throws(DatabaseError) -> Int {
      try connection.run(
        "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(key) < ? ORDER BY \(key) LIMIT ?)",
        .integer(bound), limit)
    }
    switch step {
    case .events(let first): return try rows(of: "event", "seq", below: first)
    case .samples(let first): return try rows(of: "sample", "key", below: first)
    case .hours(let first): return try rows(of: "hour", "key", below: first)
    case .days(let first): return try rows(of: "day", "key", below: first)
    case .transitions(let first):
      return try connection.run(
        """
        DELETE FROM transition WHERE id IN (
          SELECT id FROM transition AS old WHERE id < ? AND EXISTS (
            SELECT 1 FROM transition AS later WHERE later.subject = old.subject AND later.id > old.id)
          ORDER BY id LIMIT ?)
        """, .integer(first), limit)
    }
  }

  private static func contents(_ connection: DatabaseConnection, _ policy: RetentionPolicy, _ now: StoreTime)
    throws(DatabaseError) -> StoreContents
  {
    func first(_ query: String) throws(DatabaseError) -> Int64? {
      try connection.query(query) { $0.optionalInteger(0) }.first ?? nil
    }
    var contents = StoreContents()
    let reader = HistoryReader(connection, now: now)
    if let lowest = try first("SELECT min(seq) FROM event"), let highest = try first("SELECT max(seq) FROM event") {
      contents.events = lowest...highest
      // The newest events stand for all of them: the length of each would take a scan of the table.
      contents.meanEventBytes =
        try first("SELECT avg(length(body)) + 60 FROM (SELECT body FROM event ORDER BY seq DESC LIMIT 100)") ?? 0
      let oldest = now.wall - policy.events * 1_000_000
      contents.firstUndelivered = try first(
        "SELECT min(cursor) + 1 FROM webhook WHERE epoch = (SELECT value FROM meta WHERE key = 'epoch')")
      if let published = try PublishedEvents(connection),
        published.epoch == (try connection.query("SELECT value FROM meta WHERE key = 'epoch'") { $0.text(0) }).first
      {
        contents.firstUnpublished = published.through + 1
      }
      contents.firstRecentEvent = Int64(bitPattern: try reader.firstEvent(at: oldest) ?? UInt64(highest))
    }
    if let lowest = try first("SELECT min(id) FROM transition"),
      let highest = try first("SELECT max(id) FROM transition")
    {
      contents.transitions = lowest...highest
      let oldest = now.wall - policy.transitions * 1_000_000
      contents.firstRecentTransition = try reader.firstEntry(at: oldest, try reader.timeline(since: oldest))
    }
    contents.firstSample = try first("SELECT min(key) FROM sample")
    contents.firstHour = try first("SELECT min(key) FROM hour")
    contents.firstDay = try first("SELECT min(key) FROM day")
    let pages = try first("PRAGMA page_count") ?? 0
    let free = try first("PRAGMA freelist_count") ?? 0
    contents.size = (pages - free) * (try first("PRAGMA page_size") ?? 0)
    return contents
  }
}
