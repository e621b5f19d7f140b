internal import Database
internal import HostProcess

/// Reads what the last run left, and begins the present one.
struct StoreRecovery {
  let files: StoreFiles
  let page: WriterRunPage?
  let boot: String
  let time: StoreTime

  /// Decides how the last run ended, begins a run, and reads the newest events and the states.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes.
  ///   - damage: what was wrong with files that were set aside; nil for none.
  ///   - salvaged: the rows that were read from them.
  /// - Returns: what the last run left.
  /// - Throws: SQLite's error; nothing was changed then.
  func begin(
    _ connection: DatabaseConnection, damage: String? = nil, salvaged: SalvagedRows = SalvagedRows()
  ) throws(DatabaseError) -> RecoveredStoreState {
    let last = try Self.lastRun(in: connection)
    var end = damage.map(HistoryRunEnd.damaged) ?? HistoryRunEnd.none
    if let last, damage == nil { end = HistoryRunEnd(facts(last, try Self.meta("inode", in: connection))) }
    try closeRun(last, in: connection)
    let epoch = end.continues ? last?.epoch ?? HistoryEpoch.random() : HistoryEpoch.random()
    var state = RecoveredStoreState(epoch: epoch, lastEnd: end)
    state.run = try beginRun(connection, epoch, isNew: !end.continues, salvaged)
    if end.continues {
      state.events = try Self.newestEvents(in: connection)
      state.lastSequence = try Self.lastSequence(in: connection)
      // After a hole at the end there is nothing to resume from.
      if state.events.last?.sequence != state.lastSequence { state.events = [] }
    }
    state.subjects = try Self.subjects(in: connection)
    state.targets = try Self.targets(in: connection)
    return state
  }

  /// Continues this process's run after the database was opened again; the file may be another one than before.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes.
  ///   - epoch: the epoch of this process.
  ///   - lastCommitted: the last number that was committed, to another file if this one is new.
  ///   - salvaged: the rows that were read from a damaged file.
  /// - Returns: the number of the run.
  /// - Throws: SQLite's error.
  func resume(
    _ connection: DatabaseConnection, _ epoch: String, lastCommitted: UInt64, _ salvaged: SalvagedRows
  ) throws(DatabaseError) -> Int64 {
    let last = try Self.lastRun(in: connection)
    let isOurs = try Self.meta("epoch", in: connection) == epoch
    if let last, last.epoch == epoch, isOurs { return last.id }
    // Events of this process wait for their commit.
    return try beginRun(connection, epoch, isNew: !isOurs, isLossy: true, salvaged, missing: isOurs ? 0 : lastCommitted)
  }

  /// Begins a run in a file that was not readable when the process started, or that replaces a damaged one.
  ///
  /// - Returns: the number of the run.
  private func beginRun(
    _ connection: DatabaseConnection, _ epoch: String, isNew: Bool, isLossy: Bool = false, _ salvaged: SalvagedRows,
    missing lastMissing: UInt64 = 0
  ) throws(DatabaseError) -> Int64 {
    let run = try connection.transaction { () throws(DatabaseError) -> Int64 in
      if isNew {
        // Events of another epoch cannot be replayed; their transitions stay.
        try connection.run("DELETE FROM event")
        try connection.run("DELETE FROM hole")
      }
      // Numbers that were used are not used again, although the file does not have their events.
      if lastMissing > 0 { try connection.run("INSERT INTO hole(first, last) VALUES(1, ?)", .bits(lastMissing)) }
      try salvaged.insert(into: connection, at: time)
      try Self.setMeta("epoch", .text(epoch), in: connection)
      try Self.setMeta("inode", .text(files.directory.identity(of: StoreFiles.database)), in: connection)
      try connection.run(
        """
        INSERT INTO run(epoch, boot, started, started_uptime, alive, alive_uptime) VALUES(?, ?, ?, ?, ?, ?)
        """, .text(epoch), .text(boot + BootID.clockOffset), .integer(time.wall), .integer(time.uptime),
        .integer(time.wall),
        .integer(time.uptime))
      let run = connection.lastInsertedRow
      try RunHistoryWriter.begin(run, in: connection)
      return run
    }
    page?.begin(run, epoch, time, isLossy: isLossy)
    return run
  }

  // MARK: - The last run

  struct LastRun {
    var id: Int64
    var epoch: String
    var boot: String
    var isClean: Bool
  }

  private static func lastRun(in connection: DatabaseConnection) throws(DatabaseError) -> LastRun? {
    try connection.query("SELECT id, epoch, boot, clean FROM run ORDER BY id DESC LIMIT 1") { row in
      LastRun(
        id: row.integer(0), epoch: row.text(1) ?? "", boot: BootID.boot(ofClock: row.text(2) ?? ""),
        isClean: row.integer(3) != 0)
    }.first
  }

  private func facts(_ last: LastRun, _ identity: String?) -> HistoryRunEnd.Facts {
    let found: HistoryRunEnd.Facts.Page? = page.map { page in
      if page.belongs(to: last.id, last.epoch) { return .ofLastRun(isLossy: page.isLossy) }
      return (page.run ?? 0) > last.id ? .ofLaterRun : .other
    }
    return HistoryRunEnd.Facts(
      isClean: last.isClean, isSameBoot: last.boot == boot,
      isSameFile: identity == files.directory.identity(of: StoreFiles.database), page: found)
  }

  /// Stores the last sign of life of a run that did not end by itself.
  private func closeRun(_ last: LastRun?, in connection: DatabaseConnection) throws(DatabaseError) {
    guard let last, !last.isClean, last.boot == boot, let page, page.belongs(to: last.id, last.epoch) else { return }
    let alive = page.alive
    try connection.run(
      "UPDATE run SET alive = max(alive, ?), alive_uptime = max(alive_uptime, ?) WHERE id = ?", .integer(alive.time),
      .integer(alive.uptime), .integer(last.id))
  }

  // MARK: - Rows

  private static func newestEvents(in connection: DatabaseConnection) throws(DatabaseError) -> [StoredEvent] {
    var found: [StoredEvent] = []
    var bytes = 0
    let query = """
      SELECT e.seq, e.at, e.type, s.name, e.body FROM event e JOIN subject s ON s.ref = e.subject ORDER BY e.seq DESC
      """
    try connection.forEach(query) { row in
      let event = StoredEvent(row)
      bytes += event.body.count
      if let newer = found.last, newer.sequence != event.sequence + 1 { return false }
      guard bytes <= Limits.recoveredBytes else { return false }
      found.append(event)
      return true
    }
    return found.reversed()
  }

  private static func lastSequence(in connection: DatabaseConnection) throws(DatabaseError) -> UInt64 {
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

  private static func meta(_ key: String, in connection: DatabaseConnection) throws(DatabaseError) -> String? {
    try connection.query("SELECT value FROM meta WHERE key = ?", .text(key)) { $0.text(0) }.first ?? nil
  }

  private static func setMeta(
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
