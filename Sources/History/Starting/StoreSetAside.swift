internal import Database
internal import Logging
internal import ReachabilityModel

/// One database that is to be set aside: it gets another name, is never deleted, and a new one gets the rows that can be read.
struct StoreSetAside: Sendable {
  enum Cause: Sendable, Equatable {
    /// SQLite reports damage.
    case damage(String)
    /// Starts in a row ended while it was opened.
    case unfinishedStarts(isSalvaging: Bool)
  }

  /// Why a database cannot be set aside.
  enum Failure: Error, CustomStringConvertible {
    case file(DatabaseFileError)
    /// As many are kept as are permitted.
    case tooMany(directory: String)

    var description: String {
      switch self {
      case .file(let error): "the database cannot be renamed: \(error)"
      case .tooMany(let directory):
        "\(directory) has \(Limits.databasesAside) databases that were set aside, and no more are kept; remove some"
      }
    }
  }

  let cause: Cause
  /// What was read of it; read once, although the renaming may be tried again.
  private var rows: SalvagedRows?
  /// Why the last attempt failed.
  private var failure: String?

  init(_ cause: Cause) { self.cause = cause }

  /// Why the new database is empty.
  var reason: String {
    switch cause {
    case .damage(let text): text
    case .unfinishedStarts(isSalvaging: true): "two starts in a row ended while it was opened"
    case .unfinishedStarts(isSalvaging: false): "the start after that ended, too"
    }
  }

  /// Reads the rows that the next database gets, and renames the files.
  ///
  /// - Returns: the rows; nil if there is no database.
  /// - Throws: why it was not renamed.
  mutating func perform(_ files: StoreFiles, at time: StoreTime = .now) throws(Failure) -> SalvagedRows? {
    guard files.hasDatabase else { return nil }
    // Before the renaming: when this process is ended meanwhile, the next one has the same to do.
    let rows = self.rows ?? read(files)
    self.rows = rows
    let logger = files.configuration.logger
    do throws(Failure) {
      // The notice first: a database must not disappear without one.
      let name = try rename(files, time) { name in files.notices.add(line(name, rows, time), logger) }
      if cause == .unfinishedStarts(isSalvaging: true) { files.configuration.start?.noteSalvage(logger) }
      logger.error("the database was set aside", metadata: metadata(name, rows))
      return rows
    } catch {
      if failure != "\(error)" { logger.error("the database cannot be set aside", metadata: ["error": "\(error)"]) }
      failure = "\(error)"
      throw error
    }
  }

  private func read(_ files: StoreFiles) -> SalvagedRows {
    switch cause {
    case .unfinishedStarts(isSalvaging: false): SalvagedRows()
    case .unfinishedStarts(isSalvaging: true): DatabaseReading.rows(files.databasePath, .definitions)
    case .damage:
      files.configuration.start == nil
        ? DatabaseReading.rowsHere(files.databasePath, .states) : DatabaseReading.rows(files.databasePath, .states)
    }
  }

  /// Renames the files to a name with the time that no file has.
  private func rename(
    _ files: StoreFiles, _ time: StoreTime, recording record: (String) -> Void
  ) throws(Failure) -> String {
    let kept = files.databasesAside
    guard kept.count < Limits.databasesAside else { throw .tooMany(directory: files.directory.path) }
    let word = if case .damage = cause { "damaged" } else { "set-aside" }
    let base = "\(StoreFiles.database).\(word)-\(time.wall / 1_000_000)"
    // Fewer databases are kept than there are names.
    let names = [base] + (2...Limits.databasesAside).map { "\(base)-\($0)" }
    let name = names.first { name in !kept.contains(name) && !files.existsAside(name) } ?? base
    do throws(DatabaseFileError) {
      try files.rename(to: name) { record(name) }
    } catch {
      throw .file(error)
    }
    return name
  }

  private func metadata(_ name: String, _ rows: SalvagedRows) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "reason": "\(reason)", "as": "\(name)", "targets": "\(rows.targets.count)", "webhooks": "\(rows.webhooks.count)",
    ]
    if let problem = rows.problem { metadata["missing"] = "\(problem)" }
    return metadata
  }

  /// The notice for the operator: `2026-11-25T10:00:00.000000Z reachd.db.set-aside-1795600800: …`.
  private func line(_ name: String, _ rows: SalvagedRows, _ time: StoreTime) -> String {
    let missing = rows.problem.map { "; rows may be missing: \($0)" } ?? ""
    return "\(Timestamp(microseconds: time.wall)) \(name): \(reason); kept \(rows.targets.count) targets and "
      + "\(rows.webhooks.count) positions of webhooks\(missing)"
  }
}

/// What must happen before a store that is not open is opened.
enum StoreReopening {
  /// Nothing.
  case open
  /// The database is set aside; no connection may open it before.
  case setAside(StoreSetAside)
  /// It is not opened by this process.
  case never

  /// Whether a connection may open the database.
  var isPermitted: Bool { if case .open = self { true } else { false } }
}

extension StoreFiles {
  var hasDatabase: Bool { DataDirectoryFile(Self.database, in: directory.path).exists }

  /// The names of the databases that were set aside.
  var databasesAside: Set<String> {
    Set(
      directory.names.filter { name in
        ["damaged", "set-aside"].contains { name.hasPrefix("\(Self.database).\($0)-") }
          && !name.hasSuffix("-wal") && !name.hasSuffix("-shm")
      })
  }

  /// Whether a file has one of the names of a database that is set aside.
  func existsAside(_ name: String) -> Bool {
    Self.suffixes.contains { DataDirectoryFile(name + $0, in: directory.path).exists }
  }

  func rename(to name: String, recording record: () -> Void) throws(DatabaseFileError) {
    try directory.rename(Self.suffixes.map { (Self.database + $0, name + $0) }, recording: record)
  }
}
