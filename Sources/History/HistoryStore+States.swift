internal import Database

extension HistoryStore {
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
}
