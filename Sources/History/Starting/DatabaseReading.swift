internal import Database
internal import HostProcess
internal import ReachabilityModel

/// Reads the rows that a new database keeps from one that was set aside.
///
/// The reading may be what ends the service. So another process does it, which may end, wait for the disk for ever or need
/// too much memory (``StoreStart``).
public enum DatabaseReading {
  enum Scope: String {
    /// Registered targets, positions of webhooks and the published states, of a database that SQLite reports as damaged.
    case states
    /// Targets without their states, and positions of webhooks: a state may be what ended the starts.
    case definitions
  }

  /// The first argument of the process that reads; no command has this name.
  private static let word = "read-database"

  /// Reads a database, writes its rows to standard output and ends the process, if the arguments request that.
  ///
  /// - Parameter arguments: the arguments of the program, with its name.
  public static func runIfRequested(_ arguments: [String]) {
    guard arguments.count == 5, arguments[1] == word, let parent = Int32(arguments[2]),
      let scope = Scope(rawValue: arguments[3])
    else { return }
    ChildLimits.apply(memory: Limits.salvageMemory, time: Limits.salvageTime, parent: parent)
    guard let connection = try? DatabaseConnection(arguments[4], .readOnly),
      (try? connection.execute("PRAGMA hard_heap_limit=\(Limits.salvageHeap)")) != nil
    else { ChildProgram.end(1) }
    // Each row for itself: what was written is kept if this process ends at the next one.
    let isWritten = read(connection, scope) { StandardStreams.write($0.bytes, to: 1) == 0 }
    ChildProgram.end(isWritten ? 0 : 1)
  }

  /// Has another process of this program read a database.
  static func rows(_ path: String, _ scope: Scope) -> SalvagedRows {
    let output = ChildProgram.output(
      of: [word, "\(ChildProgram.parent)", scope.rawValue, path], timeLimit: Limits.salvageTime,
      byteLimit: Limits.salvagedBytes)
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
    for table in SalvageTable.all where scope == .states || table.kind != .subject {
      var isWanted = true
      table.forEach(in: connection) { frame in
        var frame = frame
        if scope == .definitions, table.kind == .target { frame.removeState() }
        isWanted = isWanted && sink(frame)
        return isWanted
      }
      guard isWanted else { return false }
    }
    return sink(SalvageFrame(.end))
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
      state: isPaused ? .paused : .unknown, reason: isPaused ? nil : .starting,
      since: Timestamp(microseconds: StoreTime.now.wall), consecutiveFailures: 0,
      flapBits: 0, wasUp: nil, isFlapping: false)
    return StoredTargetState(status: status, changes: 0, isPausedByConfiguration: isPausedByConfiguration)
  }
}
