internal import Database

/// Compares a database with the tables that its version has, and its rows with each other.
struct StoreExamination {
  private let connection: DatabaseConnection
  private let version: Int

  /// - Parameters:
  ///   - connection: a connection to the database.
  ///   - version: its version, 0 for one without tables; one that this program can use.
  init(_ connection: DatabaseConnection, version: Int) {
    self.connection = connection
    self.version = version
  }

  /// What is wrong, a line each; empty for a sound database.
  ///
  /// - Throws: SQLite's error.
  func problems() throws(DatabaseError) -> [String] {
    guard version > 0 else { return [] }
    let tables = try tableProblems()
    // Statements need the tables.
    guard tables.isEmpty else { return tables }
    if version >= StoreSchema.version { try StoreSchema.verify(connection) }
    return try rowProblems()
  }

  // MARK: - Tables

  /// The columns of tables and indexes, each with its properties.
  private static func objects(
    _ kind: String, of connection: DatabaseConnection
  ) throws(DatabaseError) -> [String: [String]] {
    let columns =
      kind == "table"
      ? "SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || pk FROM pragma_table_info(?)"
      : "SELECT name FROM pragma_index_info(?)"
    let query = "SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    var found: [String: [String]] = [:]
    for name in try connection.query(query, .text(kind), row: { $0.text(0) ?? "" }) {
      found[name] = try connection.query(columns, .text(name)) { $0.text(0) ?? "" }
    }
    return found
  }

  /// What differs from the tables that the migrations up to the version make; more tables and columns are allowed, as a later
  /// version may have them.
  private func tableProblems() throws(DatabaseError) -> [String] {
    let model = try DatabaseConnection(":memory:")
    for step in StoreSchema.migrations.prefix(version) { try model.execute(step) }
    var problems: [String] = []
    for kind in ["table", "index"] {
      let present = try Self.objects(kind, of: connection)
      if present["run"] == nil, present["event"] == nil, kind == "table" {
        return ["the tables are not those of a store: it is a database of another program"]
      }
      for (name, columns) in try Self.objects(kind, of: model).sorted(by: { $0.key < $1.key }) {
        guard let found = present[name] else {
          problems.append("the \(kind) \(name) of version \(version) is missing")
          continue
        }
        let isSame = kind == "table" ? Set(found).isSuperset(of: columns) : found.starts(with: columns)
        if !isSame { problems.append("the \(kind) \(name) has not the columns of version \(version)") }
      }
    }
    return problems
  }

  // MARK: - Rows

  /// Rows that refer to others, with what they refer to.
  private static let references = [
    (rows: "event", key: "subject", of: "a subject", table: "subject", target: "ref"),
    (rows: "transition", key: "subject", of: "a subject", table: "subject", target: "ref"),
    (rows: "transition", key: "run", of: "a run", table: "run", target: "id"),
    (rows: "target", key: "ref", of: "a subject", table: "subject", target: "ref"),
  ]

  private func rowProblems() throws(DatabaseError) -> [String] {
    var problems: [String] = []
    func count(_ query: String) throws(DatabaseError) -> Int64 {
      try connection.query(query) { $0.integer(0) }.first ?? 0
    }
    for reference in Self.references {
      let missing = try count(
        """
        SELECT count(*) FROM \(reference.rows) AS r
        WHERE NOT EXISTS (SELECT 1 FROM \(reference.table) AS t WHERE t.\(reference.target) = r.\(reference.key))
        """)
      if missing > 0 {
        problems.append("\(missing) rows of \(reference.rows) refer to \(reference.of) that does not exist")
      }
    }
    let overlapping = try count("SELECT count(*) FROM event JOIN hole ON seq BETWEEN first AND last")
    if overlapping > 0 { problems.append("\(overlapping) events have numbers of events that were not kept") }
    let epoch = try StoreRecovery.meta("epoch", in: connection)
    if try count("SELECT count(*) FROM run") > 0, epoch.map({ !HistoryEpoch.isValid($0) }) ?? true {
      problems.append("the epoch is not one: \(epoch ?? "none")")
    }
    return problems
  }
}
