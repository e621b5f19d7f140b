internal import CSQLite

/// An operation of SQLite has failed.
public struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried: `open`, `prepare`, `step`, `commit`.
  public let operation: String
  /// The path of the database file.
  public let path: String
  /// SQLite's extended result code (<https://www.sqlite.org/rescode.html>).
  public let code: Int32
  /// SQLite's message.
  public let message: String

  /// Makes an error from its parts.
  public init(operation: String, path: String, code: Int32, message: String) {
    self.operation = operation
    self.path = path
    self.code = code
    self.message = message
  }

  /// Makes an error from a result code, with SQLite's text for it.
  init(_ operation: String, _ path: String, code: Int32) {
    self.init(operation, path, code: code, unsafe String(cString: sqlite3_errstr(code)))
  }

  /// Makes an error from a result code and SQLite's message, which does not name a symbolic link that SQLite refuses.
  init(_ operation: String, _ path: String, code: Int32, _ message: String) {
    var message = message
    if code & 0xff == SQLITE_CANTOPEN {
      for file in [path, path + "-wal", path + "-shm"] {
        guard let target = DatabaseFileError.linkTarget(of: file) else { continue }
        message += ": \(file) is a symbolic link to \(target)"
        break
      }
    }
    self.init(operation: operation, path: path, code: code, message: message)
  }

  /// Makes the error of a check that has found damage.
  public init(damage message: String, _ path: String) {
    self.init(operation: "check", path: path, code: SQLITE_CORRUPT, message: message)
  }

  private var primaryCode: Int32 { code & 0xff }

  /// Whether the file is damaged, or is not a database (SQLITE_CORRUPT, SQLITE_NOTADB).
  public var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
  /// Whether the operation ended because its deadline has passed (SQLITE_INTERRUPT).
  public var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }
  /// Whether the file, or the directory for its log, cannot be written (SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM).
  public var isDenied: Bool { [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM].contains(primaryCode) }

  /// Whether the statement is wrong, and not the disk or the file (SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH …).
  public var isOfStatement: Bool {
    [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_MISUSE].contains(primaryCode)
  }

  /// This error, as damage if the statement is wrong: a statement that is always right for the tables of its program fails
  /// only if the tables are not those.
  public var asDamage: DatabaseError { isOfStatement ? DatabaseError(damage: message, path) : self }

  /// The operation, the path, the message and the code: `commit /data/reachd.db: database or disk is full (13)`.
  public var description: String { "\(operation) \(path): \(message) (\(code))" }
}
