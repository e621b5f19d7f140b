internal import Database

/// A table of a database that was set aside, of which all rows are read that can be read.
struct SalvageTable {
  let kind: SalvageFrame.Kind
  /// The key and the columns, without condition and order.
  private let query: String
  private let key: String
  private let condition: String
  private let columns: Int

  /// Webhooks first, because they are few.
  static let all = [
    SalvageTable(
      kind: .webhook, query: "SELECT id, id, epoch, cursor, attempt, next, state FROM webhook", key: "id",
      condition: "true", columns: 6),
    SalvageTable(
      kind: .target,
      query: """
        SELECT t.ref, s.name, t.definition, t.origin, t.revision, t.state, t.token FROM target t JOIN subject s USING(ref)
        """, key: "t.ref", condition: "true", columns: 6),
    SalvageTable(
      kind: .subject, query: "SELECT ref, name, state FROM subject", key: "ref", condition: "state IS NOT NULL",
      columns: 2),
  ]

  /// Passes the rows to a closure until that returns false.
  ///
  /// Each row is passed as soon as it is read: the next one may end the process. Behind a row that cannot be read, the table
  /// is read from its other end, and between two such rows each one for itself.
  func forEach(in connection: DatabaseConnection, _ sink: (SalvageFrame) -> Bool) {
    guard let last = read("ASC", in: connection, until: nil, sink) else { return }
    guard let first = read("DESC", in: connection, until: last, sink), case .integer(let first) = first else { return }
    var low: Int64 = 0
    if case .integer(let last) = last { low = last }
    guard low < first, first - low <= Int64(Limits.salvagedRows) else { return }
    for number in low + 1..<first {
      var isWanted = true
      try? connection.forEach("\(query) WHERE \(key) = ? AND \(condition)", [.integer(number)]) { row in
        if let frame = frame(row) { isWanted = sink(frame) }
        return false
      }
      guard isWanted else { return }
    }
  }

  /// Reads rows in one order.
  ///
  /// - Parameters:
  ///   - order: ASC or DESC.
  ///   - connection: the database.
  ///   - end: the key at which the rows end that were read before.
  ///   - sink: receives the rows, until it returns false.
  /// - Returns: the key of the last row before one that cannot be read, null for none; nil at the end of the rows.
  private func read(
    _ order: String, in connection: DatabaseConnection, until end: DatabaseValue?, _ sink: (SalvageFrame) -> Bool
  ) -> DatabaseValue? {
    var last = DatabaseValue.null
    var count = 0
    do throws(DatabaseError) {
      try connection.forEach("\(query) WHERE \(condition) ORDER BY \(key) \(order)") { row in
        guard let key = row.value(0, atMost: Limits.salvagedValueBytes), key != end, count < Limits.salvagedRows else {
          return false
        }
        last = key
        count += 1
        guard let frame = frame(row) else { return true }
        return sink(frame)
      }
      return nil
    } catch {
      return last
    }
  }

  /// The columns of a row; nil if one is larger than any that this program writes.
  private func frame(_ row: borrowing DatabaseRow) -> SalvageFrame? {
    var values: [DatabaseValue] = []
    for column in 1...columns {
      guard let value = row.value(column, atMost: Limits.salvagedValueBytes) else { return nil }
      values.append(value)
    }
    return SalvageFrame(kind, values)
  }
}
