internal import CSQLite

/// A connection to an SQLite database.
///
/// Used by one thread at a time: it is opened without SQLite's own mutexes. Statements are compiled once and kept.
@safe public final class DatabaseConnection: @unchecked Sendable {
  /// How a file is opened.
  public enum Mode: Sendable {
    /// For reading and writing; the file is created if there is none.
    case readWrite
    /// For reading; the file must exist.
    case readOnly
    /// For reading a file without a log that no process writes: nothing is created beside it, as on a read-only file system.
    case immutable
  }

  /// The path of the database file.
  public let path: String
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = unsafe [:]
  private let deadline: DatabaseDeadline
  private let log: DatabaseLogPages
  /// Known when the file has its first table; an error of the file ends the next transaction, too.
  private lazy var pageBytes = (try? pageSize()).map { Int($0) } ?? 4096

  /// Opens a file, by default with a write-ahead log that closing does not checkpoint.
  ///
  /// - Parameters:
  ///   - path: the file; a symbolic link anywhere in the path is an error.
  ///   - mode: how to open it.
  /// - Throws: SQLite's error; a damaged file is found at its first use.
  public init(_ path: String, _ mode: Mode = .readWrite) throws(DatabaseError) {
    let access =
      switch mode {
      case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly: SQLITE_OPEN_READONLY
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(mode == .immutable ? Self.immutableURI(path) : path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw DatabaseError("open", path, code: code)
    }
    self.path = path
    unsafe handle = unsafe opened
    deadline = DatabaseDeadline()
    log = DatabaseLogPages()
    _ = unsafe CSQLite_disable_checkpoint_on_close(opened)
    _ = unsafe CSQLite_distrust_schema(opened)
    unsafe deadline.install(on: opened)
    unsafe log.install(on: opened)
  }

  deinit { close() }

  private func close() {
    unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
    unsafe sqlite3_close_v2(handle)
  }

  // MARK: - Statements

  /// Runs statements without parameters, separated by semicolons, and ignores their rows.
  ///
  /// - Throws: SQLite's error; earlier statements stay in effect.
  public func execute(_ script: String) throws(DatabaseError) {
    let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure("execute", code) }
  }

  /// Runs one statement and ignores its rows.
  ///
  /// - Parameters:
  ///   - statement: SQL with `?` for each parameter; equal texts are compiled once.
  ///   - values: the parameters.
  /// - Returns: the number of rows that it inserted, changed or deleted.
  /// - Throws: SQLite's error.
  @discardableResult
  public func run(_ statement: String, _ values: DatabaseValue...) throws(DatabaseError) -> Int {
    try run(statement, values)
  }

  /// Runs one statement with an array of parameters.
  @discardableResult
  public func run(_ statement: String, _ values: [DatabaseValue]) throws(DatabaseError) -> Int {
    try forEach(statement, values) { _ in false }
    return unsafe Int(sqlite3_changes64(handle))
  }

  /// Runs one query and returns what a closure makes of each row.
  ///
  /// - Throws: SQLite's error, or that of the closure.
  public func query<Element>(
    _ statement: String, _ values: DatabaseValue...,
    row: (borrowing DatabaseRow) throws(DatabaseError) -> Element
  ) throws(DatabaseError) -> [Element] {
    var found: [Element] = []
    try forEach(statement, values) { (next) throws(DatabaseError) in
      found.append(try row(next))
      return true
    }
    return found
  }

  /// Runs one query and passes its rows to a closure until that returns false.
  ///
  /// - Throws: SQLite's error, or that of the closure.
  public func forEach(
    _ statement: String, _ values: [DatabaseValue] = [],
    _ body: (borrowing DatabaseRow) throws(DatabaseError) -> Bool
  ) throws(DatabaseError) {
    let compiled = unsafe try prepare(statement)
    defer {
      unsafe sqlite3_reset(compiled)
      unsafe sqlite3_clear_bindings(compiled)
    }
    for (index, value) in values.enumerated() {
      let code = unsafe value.bind(to: compiled, Int32(index + 1))
      guard code == SQLITE_OK else { throw failure("bind", code) }
    }
    while true {
      let code = unsafe sqlite3_step(compiled)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure("step", code) }
      guard unsafe try body(DatabaseRow(compiled)) else { return }
    }
  }

  private func prepare(_ text: String) throws(DatabaseError) -> OpaquePointer {
    if let known = unsafe statements[text] { return unsafe known }
    var compiled: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
    guard code == SQLITE_OK, let compiled = unsafe compiled else { throw failure("prepare", code) }
    unsafe statements[text] = unsafe compiled
    return unsafe compiled
  }

  private func failure(_ operation: String, _ code: Int32) -> DatabaseError {
    DatabaseError(operation, path, code: code, unsafe String(cString: sqlite3_errmsg(handle)))
  }

  // MARK: - Transactions

  /// Runs `body` in a transaction, which is rolled back when it throws.
  ///
  /// - Throws: the error of `body` or of the commit.
  public func transaction<Result>(_ body: () throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
    try run("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // SQLite may have rolled back already, as after SQLITE_FULL.
      if unsafe sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// The rowid of the last inserted row.
  public var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  // MARK: - The write-ahead log

  /// The bytes of the write-ahead log after the last commit of this connection: pages with a header of 24 bytes each.
  public var logBytes: Int { log.count * (pageBytes + 24) }

  /// Copies as much of the write-ahead log into the database as no reader prevents (SQLITE_CHECKPOINT_PASSIVE).
  ///
  /// - Returns: the pages of the log, and how many of them are in the database now.
  /// - Throws: SQLite's error.
  @discardableResult
  public func checkpoint() throws(DatabaseError) -> (pages: Int, copied: Int) {
    var pages: Int32 = 0
    var copied: Int32 = 0
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
    guard code == SQLITE_OK || code == SQLITE_BUSY else { throw failure("checkpoint", code) }
    if pages == copied { log.reset() }
    return (Int(pages), Int(copied))
  }
  // MARK: - Deadline

  /// The time of CLOCK_MONOTONIC in nanoseconds from which statements end with an error that
  /// ``DatabaseError/isInterrupted`` describes; nil for none.
  public var deadlineNanoseconds: Int64? {
    get { deadline.nanoseconds }
    set { deadline.nanoseconds = newValue }
  }
}
