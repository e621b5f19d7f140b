internal import Database

/// What was read from a damaged file for the file that replaces it: the published states, so that the next start reports
/// no change; what clients have registered; and the positions of webhooks, whose receivers get a gap instead of silence.
struct SalvagedRows: Sendable {
  /// The columns of the table `webhook`, without `seen`.
  typealias Webhook = [DatabaseValue]

  var subjects: [String: [UInt8]] = [:]
  var targets: [TargetRecord] = []
  var webhooks: [Webhook] = []

  /// Nothing, for a file that is not damaged.
  init() {}

  /// Reads what can be read from the tables of a damaged file.
  init(from connection: DatabaseConnection) {
    subjects = (try? StoreRecovery.subjects(in: connection)) ?? [:]
    targets = (try? StoreRecovery.targets(in: connection)) ?? []
    let query = "SELECT id, epoch, cursor, attempt, next, state FROM webhook"
    let rows = try? connection.query(query) { row -> Webhook in
      [
        .text(row.text(0)), .text(row.text(1)), .integer(row.integer(2)), .integer(row.integer(3)),
        .integer(row.optionalInteger(4)), .text(row.text(5)),
      ]
    }
    webhooks = rows ?? []
  }

  /// Writes the rows into the tables of a new file; those that the tables refuse are left out.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  func insert(into connection: DatabaseConnection, at time: StoreTime) throws(DatabaseError) {
    for (name, state) in subjects {
      try Self.attempt { () throws(DatabaseError) in
        let reference = try HistorySubject.reference(to: name, in: connection)
        try connection.run("UPDATE subject SET state = ? WHERE ref = ?", .blob(state), .integer(reference))
      }
    }
    for target in targets where !target.id.isEmpty {
      try Self.attempt { () throws(DatabaseError) in
        let reference = try HistorySubject.reference(to: HistorySubject.target(target.id), in: connection)
        try connection.run(
          "INSERT OR REPLACE INTO target(ref, definition, origin, revision, state, token) VALUES(?, ?, ?, ?, ?, ?)",
          .integer(reference), .text(target.definition), .text(target.origin), .bits(target.revision),
          .blob(target.state), .text(target.token))
      }
    }
    for webhook in webhooks {
      try Self.attempt { () throws(DatabaseError) in
        try connection.run(
          "INSERT OR REPLACE INTO webhook(id, epoch, cursor, attempt, next, state, seen) VALUES(?, ?, ?, ?, ?, ?, ?)",
          webhook + [.integer(time.wall)])
      }
    }
  }

  /// Runs statements for one row, which may have any values.
  private static func attempt(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    do throws(DatabaseError) {
      try body()
    } catch {
      guard error.isOfStatement else { throw error }
    }
  }
}
