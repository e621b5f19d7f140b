public import Database

extension HistoryStore {
  /// Has what is in force written when another file takes the place of the database, because that was damaged or deleted.
  ///
  /// - Parameter statement: writes what a restart needs; on the thread `store`, after everything that was handed over
  ///   before. It may take the locks under which events are handed over.
  public func writeToNewFile(
    _ statement: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Void
  ) {
    thread.contents.add(statement)
  }

  /// Calls a closure after everything that was handed over before is committed, as ``write(_:completion:)`` does.
  public func afterCommit(_ completion: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    write({ _ in }, completion: completion)
  }

  /// Stores the states of subjects that have none: those that no event has reported yet.
  public func storeInitialStates(_ states: [(subject: String, state: [UInt8])]) {
    write { (connection) throws(DatabaseError) in
      for (subject, state) in states {
        let reference = try HistorySubject.reference(to: subject, in: connection)
        try connection.run(
          "UPDATE subject SET state = ? WHERE ref = ? AND state IS NULL", .blob(state), .integer(reference))
      }
    }
  }

  /// Replaces the stored states and targets by those in force, in a file that takes the place of another one; see
  /// ``writeToNewFile(_:)``.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction.
  public static func replaceStates(
    _ states: [(subject: String, state: [UInt8])], _ targets: [TargetRecord], in connection: DatabaseConnection
  ) throws(DatabaseError) {
    // An older copy of the database has targets that were removed since then.
    try connection.run("UPDATE subject SET state = NULL WHERE state IS NOT NULL")
    try connection.run("DELETE FROM target")
    var rows = SalvagedRows()
    rows.subjects = Dictionary(states) { $1 }
    rows.targets = targets
    try rows.insert(into: connection, at: .now)
  }
}
