internal import Database
internal import Dispatch
internal import Locks
internal import Logging

/// Checks the database after a power failure, while the service runs.
///
/// One table after the other, because the log cannot begin again while a check reads.
final class StoreVerifier: Sendable {
  private let damage = Locked<DatabaseError?>(nil)

  /// Begins the check on a queue of its own; it takes seconds with a large database.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - logger: receives the result.
  ///   - onDamage: called after damage was found.
  func start(_ path: String, _ logger: Logger, onDamage: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "verify", qos: .utility).async { [self] in
      do throws(DatabaseError) {
        try Self.verify(path)
        logger.notice("the database is intact after the end of the last run")
      } catch {
        guard error.isDamage else {
          return logger.warning("the database cannot be checked", metadata: ["error": "\(error)"])
        }
        damage.withLock { $0 = error }
        onDamage()
      }
    }
  }

  /// The damage that was found, once.
  func takeDamage() -> DatabaseError? {
    damage.withLock { found in
      defer { found = nil }
      return found
    }
  }

  private static func verify(_ path: String) throws(DatabaseError) {
    let connection = try DatabaseConnection(path, .readOnly)
    try StoreSchema.configureReader(connection)
    let tables = try connection.query("SELECT name FROM sqlite_schema WHERE type = 'table'") { $0.text(0) ?? "" }
    for table in tables {
      // A damaged file may have any names.
      let name = table.replacing("'", with: "''")
      let found = try connection.query("PRAGMA quick_check('\(name)')") { $0.text(0) ?? "" }
      if found != ["ok"] { throw DatabaseError(damage: found.first ?? "", path) }
    }
  }
}
