public import Database

/// The transitions that retention has examined: those that it keeps, because they are the last of their subject, must not
/// be examined again each minute.
public struct RetentionProgress: Sendable, Equatable {
  /// The row number up to which the transitions are examined.
  var examined: Int64 = 0
  /// When the first of them was, in microseconds of CLOCK_BOOTTIME; nil if none is.
  var since: Int64?
  /// Which rows of the table `subject` nothing uses.
  var subjects = SubjectSweep()

  /// No transition is examined.
  public init() {}

  /// Begins again after some time: examined transitions may not be the last of their subject any more.
  mutating func expire(at time: Int64) {
    guard let begun = since, time - begun >= Int64(Limits.examination / .microseconds(1)) else { return }
    (examined, since) = (0, nil)
  }
}

/// Deletes what is older or larger than the policy allows, a limited number of rows in each transaction.
public enum HistoryRetention {
  /// Deletes one part of what the policy does not keep.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes, in a transaction.
  ///   - policy: what to keep.
  ///   - progress: what earlier calls have examined.
  ///   - inUse: the numbers of subjects that have samples in memory.
  ///   - now: the present time.
  /// - Returns: whether more may have to be deleted.
  /// - Throws: SQLite's error.
  public static func apply(
    _ connection: DatabaseConnection, _ policy: RetentionPolicy, _ progress: inout RetentionProgress,
    inUse: Set<Int64> = [], now: StoreTime = .now
  ) throws(DatabaseError) -> Bool {
    progress.expire(at: now.uptime)
    let service = try ServiceTime.now(now, in: connection)
    let contents = try contents(connection, policy, after: progress.examined, now, service)
    guard let step = policy.steps(contents, at: service).first else {
      return try progress.subjects.advance(connection, inUse: inUse, at: now.uptime)
    }
    if case .transitions(let first) = step {
      progress.since = progress.since ?? now.uptime
      progress.examined = try deleteTransitions(after: progress.examined, before: first, connection)
    } else {
      try delete(step, connection)
    }
    try connection.run("PRAGMA incremental_vacuum(\(Limits.vacuumedBytes / connection.pageSize()))")
    return true
  }

  private static func delete(_ step: RetentionStep, _ connection: DatabaseConnection) throws(DatabaseError) {
    switch step {
    case .events(let first): try deleteRows("event", "seq", before: first, connection)
    case .transitions(let first): try deleteRows("transition", "id", before: first, connection)
    case .samples(let hour): try SamplePeriod.delete(hour, .sample, connection)
    case .hours(let hour): try SamplePeriod.delete(hour, .hour, connection)
    case .days(let day): try SamplePeriod.delete(day, .day, connection)
    }
  }

  private static func deleteRows(
    _ table: String, _ key: String, before bound: Int64, _ connection: DatabaseConnection
  ) throws(DatabaseError) {
    try connection.run(
      "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(key) < ? ORDER BY \(key) LIMIT ?)",
      .integer(bound), .integer(Int64(Limits.deletedRows)))
  }

  /// Deletes those of the next transitions that are not the last of their subject before a row.
  ///
  /// The last one stays although a later one follows: it is the state of the subject at the beginning of what is kept.
  /// The last one of a subject that was removed says nothing that its absence does not say. Without its deletion, names
  /// that are used once, as those of containers' interfaces, would stay. It stays as long as its event, which is read with
  /// its subject: a subject without transitions has no events.
  ///
  /// - Returns: the last row number that was examined.
  private static func deleteTransitions(after examined: Int64, before bound: Int64, _ connection: DatabaseConnection)
    throws(DatabaseError) -> Int64
  {
    let last = try connection.query(
      "SELECT max(id) FROM (SELECT id FROM transition WHERE id > ? AND id < ? ORDER BY id LIMIT ?)", .integer(examined),
      .integer(bound), .integer(Int64(Limits.deletedRows))
    ) { $0.optionalInteger(0) }
    guard let last = last.first ?? nil else { return bound - 1 }
    try connection.run(
      """
      DELETE FROM transition WHERE id > ? AND id <= ? AND (EXISTS (
        SELECT 1 FROM transition AS later
        WHERE later.subject = transition.subject AND later.id > transition.id AND later.id < ?)
        OR new IN (?, ?) AND NOT (seq >= ifnull((SELECT min(seq) FROM event), seq + 1)
          AND epoch = (SELECT value FROM meta WHERE key = 'epoch')))
      """, .integer(examined), .integer(last), .integer(bound),
      .integer(Int64(StateCode.interfaceRemoved.rawValue)), .integer(Int64(StateCode.targetRemoved.rawValue)))
    try ClockStretch.forget(before: bound, in: connection)
    return last
  }

  private static func contents(
    _ connection: DatabaseConnection, _ policy: RetentionPolicy, after examined: Int64, _ now: StoreTime,
    _ service: Int64
  ) throws(DatabaseError) -> RetentionContents {
    func first(_ query: String) throws(DatabaseError) -> Int64? {
      try connection.query(query) { $0.optionalInteger(0) }.first ?? nil
    }
    var contents = RetentionContents()
    let reader = HistoryReader(connection, now: now)
    if let lowest = try first("SELECT min(seq) FROM event"), let highest = try first("SELECT max(seq) FROM event") {
      contents.events = lowest...highest
      // The newest events stand for all of them: the length of each would take a scan of the table.
      contents.meanEventBytes =
        try first("SELECT avg(length(body)) + 60 FROM (SELECT body FROM event ORDER BY seq DESC LIMIT 100)") ?? 0
      contents.firstUndelivered = try first(
        "SELECT min(cursor) + 1 FROM webhook WHERE epoch = (SELECT value FROM meta WHERE key = 'epoch')")
      if let published = try HistoryPublishedEvents(connection),
        published.epoch == (try connection.query("SELECT value FROM meta WHERE key = 'epoch'") { $0.text(0) }).first
      {
        contents.firstUnpublished = min(published.through, .max - 1) + 1
      }
      contents.firstRecentEvent = try reader.eventTimes.firstEvent(
        lowest..<highest + 1, atServiceTime: service - policy.events * 1_000_000)
    }
    let unexamined = try connection.query("SELECT min(id) FROM transition WHERE id > ?", .integer(examined)) {
      $0.optionalInteger(0)
    }
    if let lowest = unexamined.first ?? nil, let highest = try first("SELECT max(id) FROM transition") {
      contents.transitions = lowest...highest
      contents.firstRecentTransition = try ServiceTime.firstTransition(
        at: service - policy.transitions * 1_000_000, in: connection)
    }
    contents.firstSample = try SamplePeriod.oldest(.sample, at: service, in: connection)
    contents.firstHour = try SamplePeriod.oldest(.hour, at: service, in: connection)
    contents.firstDay = try SamplePeriod.oldest(.day, at: service, in: connection)
    let pages = try first("PRAGMA page_count") ?? 0
    let free = try first("PRAGMA freelist_count") ?? 0
    contents.size = (pages - free) * (try connection.pageSize())
    return contents
  }
}
