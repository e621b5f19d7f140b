internal import Database

extension HistoryStore {
  /// Checks the database of a directory that no process uses; it blocks, for seconds with a large database.
  ///
  /// It changes nothing and needs only the permission to read; with a log that is not in the database yet, SQLite needs its
  /// index (`reachd.db-shm`), which it creates if it does not exist.
  ///
  /// - Returns: what SQLite's integrity check and the comparison with the tables of the version found; empty for a sound
  ///   database, and for a directory without one.
  /// - Throws: a ``StoreError`` when another process uses the directory, when it cannot be used, and for the database of a
  ///   later version that this one cannot use.
  public static func check(_ path: String) throws(StoreError) -> [String] {
    // Locking would create it, and a wrong name would count as a sound database.
    guard DataDirectory.exists(at: path) else { throw .directory(path: path, reason: "there is no such directory") }
    let directory: DataDirectory?
    do throws(DatabaseFileError) {
      directory = try DataDirectory(reading: path)
    } catch {
      throw .directory(path: path, reason: "\(error)")
    }
    guard let directory else { throw .inUse(path: path) }
    defer { directory.unlock() }
    guard directory.names.contains(StoreFiles.database) else { return [] }
    let database = "\(directory.path)/\(StoreFiles.database)"
    let newer: Int
    do throws(DatabaseError) {
      // Without a log nothing is created beside the database, which may be on a read-only file system.
      let hasLog = ["-wal", "-journal"].contains { directory.size(of: StoreFiles.database + $0) > 0 }
      let connection = try DatabaseConnection(database, hasLog ? .readOnly : .immutable)
      let found = try connection.query("PRAGMA integrity_check") { $0.text(0) ?? "" }
      guard found == ["ok"] else { return found }
      let (version, isUsable) = try StoreSchema.version(of: connection)
      if isUsable { return try StoreExamination(connection, version: version).problems() }
      newer = version
    } catch {
      guard error.asDamage.isDamage else { throw .database(error) }
      return ["\(error)"]
    }
    throw .newerSchema(path: database, version: newer, supported: StoreSchema.version)
  }
}
