public import Database

/// Why a query or a statement of a store has failed: SQLite's error.
public typealias StoreQueryError = DatabaseError

/// Why the store cannot be used.
public enum StoreError: Error, Sendable, CustomStringConvertible {
  /// The directory cannot be used; the text says why, and what would be right.
  case directory(path: String, reason: String)
  /// Another process uses the directory.
  case inUse(path: String)
  /// A later version of the program has written the database.
  case newerSchema(path: String, version: Int, supported: Int)
  /// An operation of SQLite has failed.
  case database(DatabaseError)
  /// Too many operations wait.
  case busy
  /// The disk was not available in time.
  case unavailable
  /// The store was closed.
  case closed

  /// Whether another process uses the directory.
  public var isInUse: Bool { if case .inUse = self { true } else { false } }

  /// What is wrong, where, and what would be right.
  public var description: String {
    switch self {
    case .directory(let path, let reason): "\(path): \(reason)"
    case .inUse(let path): "\(path) is used by another process; each reachd needs a data directory of its own"
    case .newerSchema(let path, let version, let supported):
      "\(path) has schema \(version) of a later reachd, this one supports up to \(supported); use the later version"
    case .database(let error): error.description
    case .busy: "too many operations of the store are waiting"
    case .unavailable: "the disk did not respond in time"
    case .closed: "the store is closed"
    }
  }
}
