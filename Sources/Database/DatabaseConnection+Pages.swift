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
}
