internal import CSQLite

// Pages, and those of the write-ahead log.
extension DatabaseConnection {
  /// The URI with which SQLite opens a file as one that does not change.
  static func immutableURI(_ path: String) -> String {
    let escaped = path.map { character in
      switch character {
      case "%": "%25"
      case "?": "%3f"
      case "#": "%23"
      default: String(character)
      }
    }
    return "file:\(escaped.joined())?immutable=1"
  }

  /// The bytes of a page.
  ///
  /// - Throws: SQLite's error.
  public func pageSize() throws(DatabaseError) -> Int64 {
    let sizes = try query("PRAGMA page_size") { $0.integer(0) }
    // SQLite has no page without bytes; the value is a divisor.
    return max(1, sizes.first ?? 1)
  }

  /// The pages of the write-ahead log after the last commit of this connection.
  public var logPages: Int { log.count }

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
}
