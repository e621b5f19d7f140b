internal import Database
internal import HostProcess
internal import ReachabilityModel

/// Reads the rows that a new database keeps from one that was set aside.
///
/// The reading may be what ends the service. So another process does it, which may end, wait for the disk for ever or need
/// too much memory (``StoreStart``).
public enum DatabaseReading {
  /// What is read.
  enum Scope: String {
    /// Registered targets, positions of webhooks and the published states, of a database that SQLite reports as damaged.
    case states
    /// Targets without their states, and positions of webhooks: a state may be what ended the starts.
    case definitions
  }

  /// The first argument of the process that reads; no command has this name.
  private static let word = "read-database"

  /// Reads a database, writes its rows to standard output and ends the process, if the arguments ask for that.
  ///
  /// - Parameter arguments: the arguments of the program, with its name.
  public static func runIfRequested(_ arguments: [String]) {
    guard arguments.count == 4, arguments[1] == word, let scope = Scope(rawValue: arguments[2]) else { return }
    ChildLimits.apply(memory: Limits.salvageMemory, time: Limits.salvageTime)
    guard let connection = try? DatabaseConnection(arguments[3], .readOnly),
      (try? connection.execute("PRAGMA hard_heap_limit=\(Limits.salvageHeap)")) != nil
    else { ChildProgram.end(1) }
    // Each row for itself: what was written is kept if this process ends at the next one.
    let isWritten = read(connection, scope) { StandardStreams.write($0.bytes, to: 1) == 0 }
    ChildProgram.end(isWritten ? 0 : 1)
  }

  /// Has another process of this program read a database.
  static func rows(_ path: String, _ scope: Scope) -> SalvagedRows {
    let output = ChildProgram.output(
      of: [word, scope.rawValue, path], timeLimit: Limits.salvageTime, byteLimit: Limits.salvagedBytes)
    var rows = SalvagedRows()
    for frame in SalvageFrame.frames(in: output.bytes) { rows.take(frame) }
    if !rows.isComplete { rows.problem = output.problem ?? "the process that reads it ended before its last row" }
    return rows
  }

  /// Reads a database in this process.
  static func rowsHere(_ path: String, _ scope: Scope) -> SalvagedRows {
    var rows = SalvagedRows()
    do throws(DatabaseError) {
      _ = read(try DatabaseConnection(path, .readOnly), scope) { frame in
        rows.take(frame)
        return true
      }
    } catch {
      rows.problem = "\(error)"
    }
    return rows
  }

  /// Passes the rows of a database to a closure, until that returns false; those that cannot be read are omitted.
  private static func read(
    _ connection: DatabaseConnection, _ scope: Scope, _ sink: (SalvageFrame) -> Bool
  ) -> Bool {
    try? StoreSchema.configureReader(connection)
    return DatabaseTable.all.filter { scope == .states || $0.kind != .subject }.allSatisfy { table in
      table.keys(in: connection).allSatisfy { key in
        guard var frame = table.row(key, in: connection) else { return true }
        if scope == .definitions, table.kind == .target { frame.removeState() }
        return sink(frame)
      }
    } && sink(SalvageFrame(.end))
  }
}

/// A table of which rows are kept, and how one of them is read.
private struct DatabaseTable {
  var kind: SalvageFrame.Kind
  /// The table with its key, and the condition of the rows.
  var keys: (table: String, key: String, condition: String)
  /// The query for the columns of one row.
  var row: String
  var columns: Int

  /// Webhooks first, because they are few.
  static let all = [
    DatabaseTable(
      kind: .webhook, keys: ("webhook", "id", "true"),
      row: "SELECT id, epoch, cursor, attempt, next, state FROM webhook WHERE id = ?", columns: 6),
    DatabaseTable(
      kind: .target, keys: ("target", "ref", "true"),
      row: """
        SELECT s.name, t.definition, t.origin, t.revision, t.state, t.token FROM target t JOIN subject s USING(ref)
        WHERE t.ref = ?
        """, columns: 6),
    DatabaseTable(
      kind: .subject, keys: ("subject", "ref", "state IS NOT NULL"),
      row: "SELECT name, state FROM subject WHERE ref = ?", columns: 2),
  ]

  /// The keys of the rows; from both ends of a table that is damaged in between.
  func keys(in connection: DatabaseConnection) -> [DatabaseValue] {
    var found: [DatabaseValue] = []
    func read(_ order: String) -> Bool {
      let query = "SELECT \(keys.key) FROM \(keys.table) WHERE \(keys.condition) ORDER BY \(keys.key) \(order)"
      do throws(DatabaseError) {
        let known = Set(found)
        try connection.forEach(query) { row in
          guard let key = row.value(0, atMost: Limits.salvagedValueBytes) else { return true }
          guard !known.contains(key), found.count < Limits.salvagedRows else { return false }
          found.append(key)
          return true
        }
        return true
      } catch {
        return false
      }
    }
    if !read("ASC") { _ = read("DESC") }
    return found
  }

  /// One row; nil if it cannot be read, or is larger than any that this program writes.
  func row(_ key: DatabaseValue, in connection: DatabaseConnection) -> SalvageFrame? {
    var values: [DatabaseValue]?
    try? connection.forEach(row, [key]) { found in
      let read = (0..<columns).compactMap { found.value($0, atMost: Limits.salvagedValueBytes) }
      if read.count == columns { values = read }
      return false
    }
    return values.map { SalvageFrame(kind, $0) }
  }
}

extension SalvageFrame {
  /// Replaces the state of a target by that of one that was registered now, paused or not.
  fileprivate mutating func removeState() {
    guard values.count > 4, case .blob(let bytes) = values[4] else { return }
    values[4] = .blob(StoredTargetState(bytes)?.withoutHistory.bytes ?? [])
  }
}

extension StoredTargetState {
  /// The state of a target that was registered now, with the same pause.
  fileprivate var withoutHistory: StoredTargetState {
    let isPaused = status.state == .paused
    let status = TargetStatus.Restorable(
      state: isPaused ? .paused : .unknown, reason: isPaused ? nil : .starting, since: Timestamp(microseconds: StoreTime.now.wall), consecutiveFailures: 0,
      flapBits: 0, wasUp: nil, isFlapping: false)
    return StoredTargetState(status: status, changes: 0, isPausedByConfiguration: isPausedByConfiguration)
  }
}
