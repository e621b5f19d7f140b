internal import Database

/// What was read from a database that was set aside, for the one that replaces it: what clients have registered, the
/// positions of webhooks, whose receivers get a gap instead of silence, and, of a database that is only damaged, the
/// published states, so that the next start reports no change.
struct SalvagedRows: Sendable {
  /// The columns of the table `webhook`, without `seen`.
  typealias Webhook = [DatabaseValue]

  var subjects: [String: [UInt8]] = [:]
  var targets: [TargetRecord] = []
  var webhooks: [Webhook] = []
  /// Whether the last row was read.
  private(set) var isComplete = false
  /// Why rows may be missing; nil if only those are that cannot be read.
  var problem: String?

  /// Adds a row; one of another form than this program writes is omitted.
  mutating func take(_ frame: SalvageFrame) {
    switch (frame.kind, frame.values.count) {
    case (.webhook, 6): if Self.isWebhook(frame.values) { webhooks.append(frame.values) }
    case (.target, 6):
      guard let record = TargetRecord(salvaged: frame.values) else { return }
      targets.append(record)
    case (.subject, 2):
      guard case .text(let name) = frame.values[0], case .blob(let state) = frame.values[1] else { return }
      subjects[name] = state
    case (.end, _): isComplete = true
    default: break
    }
  }

  /// Whether values have the types of the columns: a value of another type would make the whole transaction fail.
  private static func isWebhook(_ values: Webhook) -> Bool {
    guard case .text = values[0], case .text = values[1], case .integer = values[2], case .integer = values[3],
      case .text = values[5]
    else { return false }
    if case .integer = values[4] { return true }
    return values[4] == .null
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

extension TargetRecord {
  /// The columns name, definition, origin, revision, state and token; nil for values of another type.
  fileprivate init?(salvaged values: [DatabaseValue]) {
    guard case .text(let name) = values[0], let id = HistorySubject.targetID(in: name), !id.isEmpty,
      case .text(let definition) = values[1], case .text(let origin) = values[2],
      case .integer(let revision) = values[3]
    else { return nil }
    // Without a readable state the target is checked as a new one.
    var state: [UInt8] = []
    if case .blob(let bytes) = values[4] { state = bytes }
    var token: String?
    if case .text(let id) = values[5] { token = id }
    self.init(
      id: id, definition: definition, origin: origin, revision: UInt64(bitPattern: revision), state: state, token: token
    )
  }
}
