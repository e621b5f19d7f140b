internal import Database

/// A change of the files of an open store by another program.
enum StoreFileChange: Hashable {
  /// The database is another file than the open one, or there is none; what is committed is lost at the end of the process.
  case database(String)
  /// The database is shorter than it was.
  case truncated
  /// The log or its index is another file than the open one, or there is none.
  case log(String)
  /// The directory or the lock file is another one than the locked one, or there is none.
  case lock
}

struct OpenStoreFiles {
  fileprivate let database: DataFileStatus
  fileprivate let log: DataFileStatus
  fileprivate let index: DataFileStatus
  /// The bytes of the database, which only a checkpoint changes; nil if they cannot be read.
  var databaseBytes: Int64?
}

extension StoreFiles {
  private static let log = database + "-wal"
  private static let index = database + "-shm"

  /// The files that are open, when a connection has been opened.
  var opened: OpenStoreFiles {
    OpenStoreFiles(
      database: directory.status(of: Self.database), log: directory.status(of: Self.log),
      index: directory.status(of: Self.index), databaseBytes: databaseBytes)
  }

  /// The bytes of the database without its log; nil if they cannot be read.
  var databaseBytes: Int64? {
    if case .found = directory.status(of: Self.database) { directory.size(of: Self.database) } else { nil }
  }

  /// Finds out whether the open files are still those of the directory; nil if they are, or if that is not known.
  func change(since opened: OpenStoreFiles) -> StoreFileChange? {
    if let problem = Self.problem("database file", opened.database, directory.status(of: Self.database)) {
      return .database(DataDirectory.exists(at: directory.path) ? problem : "the data directory was deleted")
    }
    if let present = databaseBytes, let known = opened.databaseBytes, present < known { return .truncated }
    if let problem = Self.problem("write-ahead log", opened.log, directory.status(of: Self.log))
      ?? Self.problem("index of the write-ahead log", opened.index, directory.status(of: Self.index))
    {
      return .log(problem)
    }
    return directory.isInPlace ? nil : .lock
  }

  private static func problem(_ name: String, _ opened: DataFileStatus, _ present: DataFileStatus) -> String? {
    guard case .found = opened, opened != present else { return nil }
    switch present {
    case .missing: return "the \(name) was deleted"
    case .found: return "the \(name) was replaced"
    case .unknown: return nil
    }
  }

  /// Removes what is in place of the log, after the open log was copied into the database.
  ///
  /// It belongs to another database, and SQLite would apply it to this one. A log is kept under another name.
  func removeLog(of opened: OpenStoreFiles) throws(DatabaseFileError) {
    if case .found = directory.status(of: Self.log), directory.status(of: Self.log) != opened.log {
      try directory.rename(Self.log, to: Self.log + ".replaced")
    }
    directory.remove(Self.log)
    directory.remove(Self.index)
  }
}
