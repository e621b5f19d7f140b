public import Database

extension HistorySubject {
  /// The number of a subject, which it gets when it is first mentioned.
  ///
  /// Numbers rise. A target has one that ``SampleKey`` can contain: when these are used up, a free one, of which there are
  /// some, because retention deletes subjects.
  ///
  /// - Throws: SQLite's error; the connection must be in a transaction that writes.
  public static func reference(to name: String, in connection: DatabaseConnection) throws(DatabaseError) -> Int64 {
    let found = try connection.query("SELECT ref FROM subject WHERE name = ?", .text(name)) { $0.integer(0) }
    if let found = found.first { return found }
    try connection.run("INSERT INTO subject(name) VALUES(?)", .text(name))
    let number = connection.lastInsertedRow
    guard number > SampleKey.highestSubject, targetID(in: name) != nil, let free = try freeNumber(in: connection) else {
      return number
    }
    try connection.run("UPDATE subject SET ref = ? WHERE ref = ?", .integer(free), .integer(number))
    return free
  }

  /// A number that no subject has, by chance; nil if none was found.
  private static func freeNumber(in connection: DatabaseConnection) throws(DatabaseError) -> Int64? {
    for _ in 0..<Limits.numberAttempts {
      let number = Int64.random(in: 1...SampleKey.highestSubject)
      let used = try connection.query("SELECT 1 FROM subject WHERE ref = ?", .integer(number)) { _ in true }
      if used.isEmpty { return number }
    }
    return nil
  }
}
