internal import Database
internal import Logging

struct StoreFiles: Sendable {
  static let database = "reachd.db"
  static let suffixes = ["", "-wal", "-shm"]

  let directory: DataDirectory
  let configuration: StoreConfiguration
  /// What an operator has to acknowledge.
  let notices: StoreNotices

  init(directory: DataDirectory, configuration: StoreConfiguration) {
    self.directory = directory
    self.configuration = configuration
    notices = StoreNotices(directory.path)
  }

  var databasePath: String { "\(directory.path)/\(Self.database)" }
  var logPath: String { databasePath + "-wal" }

  var bytes: Int64 { Self.suffixes.reduce(0) { $0 + directory.size(of: Self.database + $1) } }

  /// The page of the store's runs, whose name no other store of the machine has.
  var pagePath: String? {
    directory.identity(of: "lock").map { "\(configuration.runtimeDirectory)/reachd-store-\($0)" }
  }

  /// What the lock file says about the run that used the store last; nil for nothing.
  var mark: StoreRunMark? { StoreRunMark(directory.record) }

  /// Writes the run into the lock file, after the database has it.
  func write(_ mark: StoreRunMark) {
    do throws(DatabaseFileError) {
      try directory.write(record: mark.bytes)
    } catch {
      configuration.logger.warning(
        "the lock file cannot be written, so that the restoration of a backup may not be noticed",
        metadata: ["error": "\(error)"])
    }
  }

  /// Opens the database with its settings and the present tables.
  ///
  /// - Throws: why that is not possible; a later version's file is not changed.
  func open() throws(StoreError) -> DatabaseConnection {
    let newer: Int
    do throws(DatabaseFileError) {
      try directory.create(Self.database)
    } catch {
      guard error.isDiskFailure else { throw .directory(path: directory.path, reason: "\(error)") }
      throw .unavailable
    }
    restrictFiles()
    do throws(DatabaseError) {
      let connection = try DatabaseConnection(databasePath)
      let (version, isUsable) = try StoreSchema.version(of: connection)
      if isUsable {
        try StoreSchema.configure(connection, isNew: version == 0, maximumBytes: configuration.maximumSize / 4 * 5)
        try StoreSchema.migrate(connection, from: version)
        return connection
      }
      newer = version
    } catch {
      throw .database(error)
    }
    throw .newerSchema(path: databasePath, version: newer, supported: StoreSchema.version)
  }

  /// Has only the owner read the files, which have the credentials of targets, also after a backup was restored.
  private func restrictFiles() {
    for name in Self.suffixes.map({ Self.database + $0 }) + [DataDirectory.lockName] {
      do throws(DatabaseFileError) {
        try directory.restrict(name)
      } catch {
        configuration.logger.warning(
          "other users of the machine may be able to read a file of the store", metadata: ["error": "\(error)"])
      }
    }
  }
}
