internal import Database
internal import HostProcess

// The last run in the database, and what other files say about it.
extension StoreRecovery {
  struct LastRun {
    var id: Int64
    var epoch: String
    var boot: String
    var isClean: Bool
    /// Nil for a run of 0.1.0.
    var token: UInt64?
  }

  static func lastRun(in connection: DatabaseConnection) throws(DatabaseError) -> LastRun? {
    try connection.query("SELECT id, epoch, boot, clean, token FROM run ORDER BY id DESC LIMIT 1") { row in
      LastRun(
        id: row.integer(0), epoch: row.text(1) ?? "", boot: BootID.boot(ofClock: row.text(2) ?? ""),
        isClean: row.integer(3) != 0,
        token: row.isNull(4) ? nil : row.bits(4))
    }.first
  }

  func facts(
    _ last: LastRun, _ lastSequence: UInt64, _ connection: DatabaseConnection
  ) throws(DatabaseError) -> HistoryRunEnd.Facts {
    HistoryRunEnd.Facts(
      isClean: last.isClean, isSameBoot: last.boot == boot, isSameFile: try hasSameFile(connection),
      lock: try lock(last, lastSequence, connection), page: try page(last, lastSequence, connection))
  }

  /// Whether the file is the one that the last run used.
  func hasSameFile(_ connection: DatabaseConnection) throws(DatabaseError) -> Bool {
    let birth =
      try connection.query("SELECT value FROM meta WHERE key = 'birth'") { $0.optionalInteger(0) }.first ?? nil
    let present = files.directory.birthTime(of: StoreFiles.database)
    return try Self.meta("inode", in: connection) == files.directory.identity(of: StoreFiles.database)
      && (birth == nil || present == nil || birth == present)
  }

  private func lock(
    _ last: LastRun, _ lastSequence: UInt64, _ connection: DatabaseConnection
  ) throws(DatabaseError) -> HistoryRunEnd.Facts.Lock {
    guard let mark = files.mark else {
      return last.token == nil && !files.directory.hasNewLock ? .unused : .missing
    }
    guard mark.token == last.token else {
      return try Self.hasRun(mark.token, connection) ? .ofEarlierRun : .ofUnknownRun
    }
    return .ofLastRun(isComplete: mark.end.map { last.isClean && $0 == lastSequence } ?? true)
  }

  private func page(
    _ last: LastRun, _ lastSequence: UInt64, _ connection: DatabaseConnection
  ) throws(DatabaseError) -> HistoryRunEnd.Facts.Page? {
    guard let page, let run = page.run else { return nil }
    if page.isOfFirstFormat {
      if page.belongs(to: last.id, last.epoch) { return .ofLastRun(isLossy: page.isLossy, isComplete: true) }
      return run > last.id && last.boot == boot ? .ofUnknownRun : nil
    }
    guard let token = page.token else { return .ofEarlierRun(isLossy: page.isLossy) }
    if token == last.token {
      return .ofLastRun(isLossy: page.isLossy, isComplete: page.lastVisible <= lastSequence)
    }
    return try Self.hasRun(token, connection) ? .ofEarlierRun(isLossy: page.isLossy) : .ofUnknownRun
  }

  private static func hasRun(_ token: UInt64, _ connection: DatabaseConnection) throws(DatabaseError) -> Bool {
    try !connection.query("SELECT 1 FROM run WHERE token = ?", .bits(token)) { $0.integer(0) }.isEmpty
  }

  /// The time since a run of this boot has stored something; nil for another boot.
  func idle(since last: LastRun, in connection: DatabaseConnection) throws(DatabaseError) -> Duration? {
    guard last.boot == boot else { return nil }
    let alive = try connection.query("SELECT alive_uptime FROM run WHERE id = ?", .integer(last.id)) { $0.integer(0) }
    return alive.first.map { .microseconds(max(0, time.uptime &- $0)) }
  }

  /// Stores the last sign of life of a run that did not end by itself.
  func closeRun(_ last: LastRun?, in connection: DatabaseConnection) throws(DatabaseError) {
    guard let last, !last.isClean, last.boot == boot, let page, page.belongs(to: last.id, last.epoch),
      page.isOfFirstFormat || page.token == last.token
    else { return }
    let alive = page.alive
    // Both clocks of one moment: the wall clock may have been set back since the stored one.
    try connection.run(
      "UPDATE run SET alive = ?1, alive_uptime = ?2 WHERE id = ?3 AND alive_uptime <= ?2", .integer(alive.time),
      .integer(alive.uptime), .integer(last.id))
  }
}
