internal import Database

extension HistoryStore {
  /// Checks the database of a directory that no process uses; it blocks, for seconds with a large database.
  ///
  /// - Returns: what SQLite's integrity check found; empty for a sound database, and for a directory without one.
  /// - Throws: a ``StoreError`` when another process uses the directory, or it cannot be used.
  public static func check(_ path: String) throws(StoreError) -> [String] {
    // Locking would create it, and a wrong name would count as a sound database.
    guard DataDirectory.exists(at: path) else { throw .directory(path: path, reason: "there is no such directory") }
    let directory: DataDirectory?
    do throws(DatabaseFileError) {
      directory = try DataDirectory(locking: path)
    } catch {
      throw .directory(path: path, reason: "\(error)")
    }
    guard let directory else { throw .inUse(path: path) }
    defer { directory.unlock() }
    guard directory.names.contains(StoreFiles.database) else { return [] }
    do throws(DatabaseError) {
      let connection = try DatabaseConnection("\(directory.path)/\(StoreFiles.database)")
      let found = try connection.query("PRAGMA integrity_check") { $0.text(0) ?? "" }
      return found == ["ok"] ? [] : found
    } catch {
      guard error.isDamage else { throw .database(error) }
      return ["\(error)"]
    }
  }
}
