internal import Database
internal import ReachabilityModel

/// The connection that writes, with the statements of a group commit.
///
/// Confined to the thread `store` after its creation.
final class GroupCommitWriter: @unchecked Sendable {
  let connection: DatabaseConnection
  private let epoch: String
  let run: Int64
  /// The wall clock minus CLOCK_BOOTTIME in the last stretch of the run; nil if that is not known.
  private var shift: Int64?
  /// The numbers of subjects since the last statement of another part of the program, which may be retention, which
  /// deletes subjects.
  private var references: [String: Int64] = [:]

  init(_ connection: DatabaseConnection, epoch: String, run: Int64) {
    self.connection = connection
    self.epoch = epoch
    self.run = run
  }

  /// Commits a group in one transaction.
  ///
  /// - Returns: the result of each statement of another part of the program.
  /// - Throws: why nothing was committed.
  func commit(
    _ group: PendingRecords.Group, _ body: () throws(DatabaseError) -> Void = {}
  ) throws(DatabaseError) -> [Result<Void, StoreError>] {
    do throws(DatabaseError) {
      return try connection.transaction { () throws(DatabaseError) in
        do throws(DatabaseError) {
          try write(group)
        } catch {
          // Events that the tables refuse would be refused again and again.
          throw error.asDamage
        }
        try body()
        var results: [Result<Void, StoreError>] = []
        for write in group.writes { results.append(try execute(write)) }
        if !group.writes.isEmpty { references = [:] }
        return results
      }
    } catch {
      // Some of the subjects, and a stretch, may have been inserted in the transaction.
      references = [:]
      shift = nil
      throw error
    }
  }

  private func write(_ group: PendingRecords.Group) throws(DatabaseError) {
    if let hole = group.hole {
      try connection.run(
        "INSERT OR REPLACE INTO hole(first, last) VALUES(?, ?)", .bits(hole.lowerBound), .bits(hole.upperBound))
      for record in group.states.values { try writeState(record) }
    }
    for waiting in group.records {
      try begin(waiting)
      try insert(waiting.record)
    }
    // Only the last state of each subject is written.
    var last: [String: EventRecord] = [:]
    for waiting in group.records where waiting.record.state != nil || waiting.record.target != nil {
      last[waiting.record.subject] = waiting.record.following(last[waiting.record.subject])
    }
    for record in last.values { try writeState(record) }
  }

  /// Begins a stretch if the wall clock was set since the last one.
  private func begin(_ waiting: PendingRecords.Waiting) throws(DatabaseError) {
    guard let clocks = waiting.clocks else { return }
    let present = clocks.wall &- clocks.uptime
    if shift == nil { shift = try storedShift() }
    if let shift, ClockStretch.isSame(shift, present) { return }
    try ClockStretch.begin(run, at: clocks, nextEvent: waiting.record.sequence, in: connection)
    shift = present
  }

  private func storedShift() throws(DatabaseError) -> Int64? {
    try connection.query("SELECT at - uptime FROM stretch WHERE run = ? ORDER BY id DESC LIMIT 1", .integer(run)) {
      $0.integer(0)
    }.first
  }

  private func insert(_ record: EventRecord) throws(DatabaseError) {
    let subject = try reference(to: record.subject)
    try connection.run(
      "INSERT INTO event(seq, at, type, subject, body) VALUES(?, ?, ?, ?, ?)", .bits(record.sequence),
      .integer(record.time), .integer(Int64(record.kind)), .integer(subject), .blob(record.body))
    guard let transition = record.transition else { return }
    try connection.run(
      """
      INSERT INTO transition(epoch, seq, at, boottime, run, subject, type, old, new, reason, cause, flags)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(epoch), .bits(record.sequence), .integer(record.time), .integer(record.uptime), .integer(run),
      .integer(subject), .integer(Int64(transition.type.rawValue)), .integer(Int64(transition.old.rawValue)),
      .integer(Int64(transition.new.rawValue)), .integer(transition.reason.map { Int64($0.rawValue) }),
      .integer(Int64(transition.causes.rawValue)), .integer(Int64(transition.flags.rawValue)))
  }

  private func writeState(_ record: EventRecord) throws(DatabaseError) {
    let subject = try reference(to: record.subject)
    if let state = record.state {
      // No state: the subject is gone.
      try connection.run(
        "UPDATE subject SET state = ? WHERE ref = ?", state.isEmpty ? .null : .blob(state), .integer(subject))
    }
    switch record.target {
    case .put(let target): try put(target, subject)
    case .state(let state):
      try connection.run("UPDATE target SET state = ? WHERE ref = ?", .blob(state), .integer(subject))
    case .remove: try connection.run("DELETE FROM target WHERE ref = ?", .integer(subject))
    case nil: break
    }
  }

  private func put(_ target: TargetRecord, _ subject: Int64) throws(DatabaseError) {
    try connection.run(
      """
      INSERT INTO target(ref, definition, origin, revision, state, token) VALUES(?, ?, ?, ?, ?, ?)
      ON CONFLICT(ref) DO UPDATE SET definition = excluded.definition, origin = excluded.origin,
        revision = excluded.revision, state = excluded.state, token = excluded.token
      """, .integer(subject), .text(target.definition), .text(target.origin), .bits(target.revision),
      .blob(target.state), .text(target.token))
  }

  private func reference(to subject: String) throws(DatabaseError) -> Int64 {
    if let known = references[subject] { return known }
    let reference = try HistorySubject.reference(to: subject, in: connection)
    references[subject] = reference
    return reference
  }

  /// Runs a statement so that its failure does not end the transaction, unless the disk or the file has failed.
  private func execute(_ write: PendingWrite) throws(DatabaseError) -> Result<Void, StoreError> {
    try connection.run("SAVEPOINT statement")
    do throws(DatabaseError) {
      try write.body(connection)
      try connection.run("RELEASE statement")
      return .success(())
    } catch {
      guard error.isOfStatement else { throw error }
      try connection.run("ROLLBACK TO statement")
      try connection.run("RELEASE statement")
      return .failure(.database(error))
    }
  }
}
