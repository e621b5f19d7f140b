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
  /// - Returns: what the last run left, and the new run.
  /// - Throws: SQLite's error, as damage if a statement does not fit the tables; nothing was changed then.
  func begin(
    _ connection: DatabaseConnection, damage: String? = nil, salvaged: SalvagedRows = SalvagedRows()
  ) throws(DatabaseError) -> (state: RecoveredStoreState, mark: StoreRunMark) {
    do throws(DatabaseError) {
      return try recover(connection, damage, salvaged)
    } catch {
      throw error.asDamage
    }
  }

  private func recover(
    _ connection: DatabaseConnection, _ damage: String?, _ salvaged: SalvagedRows
  ) throws(DatabaseError) -> (state: RecoveredStoreState, mark: StoreRunMark) {
    let last = try Self.lastRun(in: connection)
    let lastSequence = try Self.lastSequence(in: connection)
    var end = damage.map(HistoryRunEnd.damaged) ?? HistoryRunEnd.none
    if let last, damage == nil { end = HistoryRunEnd(try facts(last, lastSequence, connection)) }
    // No run, although one has used the directory: the file is empty or was deleted, or its log was.
    if last == nil, damage == nil, files.mark != nil { end = .lossy("the database of the last run is missing") }
    if let last, end.continues, !HistoryEpoch.isValid(last.epoch) {
      end = .lossy("the epoch of the last run is not one")
    }
    try closeRun(last, in: connection)
    var idle: Duration?
    if let last { idle = try self.idle(since: last, in: connection) }
    let epoch = end.continues ? last?.epoch ?? HistoryEpoch.random() : HistoryEpoch.random()
    var state = RecoveredStoreState(epoch: epoch, lastEnd: end)
    state.lastSequence = end.continues ? lastSequence : 0
    let run = NewRun(epoch: epoch, last: state.lastSequence, isNewEpoch: !end.continues)
    let mark = try beginRun(connection, run, StoreContents(salvaged: salvaged))
    state.run = mark.run
    state.idle = end.isExpected ? idle : nil
    if end.continues {
      state.events = try Self.newestEvents(in: connection)
      // After a hole at the end there is nothing to resume from.
      if state.events.last?.sequence != state.lastSequence { state.events = [] }
    }
    state.subjects = try Self.subjects(in: connection)
    state.targets = try Self.targets(in: connection)
    return (state, mark)
  }

  /// Continues this process's run after the database was opened again; the file may be another one than before.
  ///
  /// - Parameters:
  ///   - present: the run of this process; nil if none was begun.
  ///   - connection: the connection that writes.
  ///   - epoch: the epoch of this process.
  ///   - lastCommitted: the last number that was committed, to another file if this one is new.
  ///   - contents: what another file must have: the rows of a damaged one, and what is in force.
  /// - Returns: the run; another one than the present one if the file is another one.
  /// - Throws: SQLite's error.
  func resume(
    _ present: StoreRunMark?, _ connection: DatabaseConnection, _ epoch: String, lastCommitted: UInt64,
    _ contents: StoreContents
  ) throws(DatabaseError) -> StoreRunMark {
    do throws(DatabaseError) {
      return try continueRun(present, connection, epoch, lastCommitted: lastCommitted, contents)
    } catch {
      throw error.asDamage
    }
  }

  private func continueRun(
    _ present: StoreRunMark?, _ connection: DatabaseConnection, _ epoch: String, lastCommitted: UInt64,
    _ contents: StoreContents
  ) throws(DatabaseError) -> StoreRunMark {
    let last = try Self.lastRun(in: connection)
    let lastSequence = try Self.lastSequence(in: connection)
    let isOurEpoch = try Self.meta("epoch", in: connection) == epoch
    let isOurFile = try hasSameFile(connection)
    if let last, let present, last.token == present.token, isOurEpoch, isOurFile, lastSequence >= lastCommitted {
      return present
    }
    // An earlier copy of this epoch's database has the events up to its last one.
    let kept = isOurEpoch && lastSequence <= lastCommitted ? lastSequence : 0
    let run = NewRun(
      epoch: epoch, last: lastCommitted, isNewEpoch: !isOurEpoch || lastSequence > lastCommitted, isLossy: true,
      missing: kept < lastCommitted ? kept + 1...lastCommitted : nil)
    return try beginRun(connection, run, contents)
  }

  private struct NewRun {
    var epoch: String
    /// The number of the last event.
    var last: UInt64
    /// Whether the events in the database are of another epoch.
    var isNewEpoch: Bool
    /// Whether events were published that are not committed.
    var isLossy = false
    /// The numbers of events that the database does not have.
    var missing: ClosedRange<UInt64>?
  }

  /// Begins a run, in a file that may be another one than that of the last run.
  private func beginRun(
    _ connection: DatabaseConnection, _ new: NewRun, _ contents: StoreContents
  ) throws(DatabaseError) -> StoreRunMark {
    let token = StoreRunMark.randomToken()
    let mark = try connection.transaction { () throws(DatabaseError) -> StoreRunMark in
      if new.isNewEpoch {
        // Events of another epoch cannot be replayed; their transitions stay.
        try connection.run("DELETE FROM event")
        try connection.run("DELETE FROM hole")
        try ServiceTime.forgetEvents(in: connection)
      }
      // Numbers that were used are not used again, although the file does not have their events.
      if let missing = new.missing {
        try connection.run(
          "INSERT INTO hole(first, last) VALUES(?, ?)", .bits(missing.lowerBound), .bits(missing.upperBound))
      }
      try contents.salvaged.insert(into: connection, at: time)
      try Self.setMeta("epoch", .text(new.epoch), in: connection)
      try Self.setMeta("inode", .text(files.directory.identity(of: StoreFiles.database)), in: connection)
      try Self.setMeta("birth", .integer(files.directory.birthTime(of: StoreFiles.database)), in: connection)
      let mark = StoreRunMark(run: try nextRun(in: connection), token: token)
      try connection.run(
        """
        INSERT INTO run(id, epoch, boot, started, started_uptime, alive, alive_uptime, token) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
        """, .integer(mark.run), .text(new.epoch), .text(boot + BootID.clockOffset), .integer(time.wall),
        .integer(time.uptime),
        .integer(time.wall), .integer(time.uptime), .bits(token))
      try ServiceTime.begin(mark.run, at: time, nextEvent: new.last + 1, in: connection)
      try RunHistoryWriter.begin(mark.run, in: connection)
      for write in contents.writers { try write(connection) }
      return mark
    }
    page?.begin(mark, new.epoch, time, last: new.last, isLossy: new.isLossy)
    files.write(mark)
    return mark
  }

  /// A number above those of all runs, also of runs that the database does not have: revisions of targets contain it.
  private func nextRun(in connection: DatabaseConnection) throws(DatabaseError) -> Int64 {
    let stored = try connection.query("SELECT ifnull(max(id), 0) FROM run") { $0.integer(0) }.first ?? 0
    guard stored < Limits.highestRun else { throw DatabaseError(damage: "run \(stored)", connection.path) }
    return max(0, stored, files.mark?.run ?? 0, page?.run ?? 0) + 1
  }
}
