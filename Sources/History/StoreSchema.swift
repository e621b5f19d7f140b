internal import Database

/// The tables of the database, and the migrations from earlier versions.
///
/// All times are microseconds since 1970, except `uptime` columns, which are of CLOCK_BOOTTIME, and `service` columns, which
/// are of ``ServiceTime``. Sequence numbers are stored by their bits.
package enum StoreSchema {
  /// The version of the tables that this program writes (`PRAGMA user_version`).
  package static let version = 4

  /// The oldest version of the program's schema that can use these tables (`meta.compatible_from`).
  package static let compatibleFrom = 1

  /// The bytes of a page of a new file.
  ///
  /// A commit writes each page that it changes, four to seven for an event, as a whole into the log (ADR 65). A file of an
  /// earlier version keeps its pages of 4 KiB.
  static let pageBytes = 1024

  /// The settings of the file and of the connection that writes it; those of the file precede its first table.
  ///
  /// - Parameters:
  ///   - connection: a connection to the file.
  ///   - isNew: whether the file has no table yet.
  ///   - maximumBytes: the size that the file must not exceed; one that is near it or beyond it may grow by
  ///     ``Limits/spareBytes``.
  /// - Throws: SQLite's error.
  static func configure(_ connection: DatabaseConnection, isNew: Bool, maximumBytes: Int64) throws(DatabaseError) {
    // A commit is a write to the log. The thread `sync` synchronizes the log, so that no event waits for the disk.
    try connection.execute("PRAGMA synchronous=NORMAL")
    if isNew {
      try connection.execute("PRAGMA page_size=\(pageBytes)")
      // For incremental_vacuum: a file can become smaller without a copy of it. In a file with tables it is a transaction.
      try connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    }
    // A copy that another program made may have a rollback journal: no thread would find a log to synchronize.
    try connection.execute("PRAGMA journal_mode=WAL")
    // Not wal_autocheckpoint=0: it would remove the connection's hook, which replaces automatic checkpoints already.
    try connection.execute("PRAGMA journal_size_limit=16777216")
    // An error of the disk under a mapping would be SIGBUS.
    try connection.execute("PRAGMA mmap_size=0")
    try connection.execute("PRAGMA cache_size=-1024")
    // Debian's SQLite overwrites deleted content by default, which doubles the writes of retention.
    try connection.execute("PRAGMA secure_delete=OFF")
    let present = try connection.query("PRAGMA page_count") { $0.integer(0) }.first ?? 0
    let pageSize = try connection.pageSize()
    let maximumPages = max(maximumBytes / pageSize, present + Limits.spareBytes / pageSize)
    try connection.execute("PRAGMA max_page_count=\(maximumPages)")
  }

  /// The settings of a connection that reads.
  static func configureReader(_ connection: DatabaseConnection) throws(DatabaseError) {
    try connection.execute("PRAGMA mmap_size=0")
    try connection.execute("PRAGMA cache_size=-1024")
    try connection.execute("PRAGMA query_only=ON")
  }

  /// Each migration leads from the version of its index to the next one.
  static let migrations: [String] = [
    """
    CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE run(
      id INTEGER PRIMARY KEY, epoch TEXT NOT NULL, boot TEXT NOT NULL, started INTEGER NOT NULL,
      started_uptime INTEGER NOT NULL, alive INTEGER NOT NULL, alive_uptime INTEGER NOT NULL, ended INTEGER,
      clean INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE hole(first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
    CREATE TABLE subject(ref INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, state BLOB);
    CREATE TABLE event(
      seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type INTEGER NOT NULL, subject INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE transition(
      id INTEGER PRIMARY KEY, epoch TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
      boottime INTEGER NOT NULL, run INTEGER NOT NULL, subject INTEGER NOT NULL, type INTEGER NOT NULL,
      old INTEGER NOT NULL, new INTEGER NOT NULL, reason INTEGER, cause INTEGER NOT NULL, flags INTEGER NOT NULL);
    CREATE INDEX transition_subject ON transition(subject, id);
    CREATE INDEX transition_at ON transition(at);
    CREATE TABLE target(
      ref INTEGER PRIMARY KEY, definition TEXT NOT NULL, origin TEXT NOT NULL, revision INTEGER NOT NULL, state BLOB);
    CREATE TABLE sample_minute(minute INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE sample(key INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE hour(key INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE day(key INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE webhook(
      id TEXT PRIMARY KEY, epoch TEXT NOT NULL, cursor INTEGER NOT NULL, attempt INTEGER NOT NULL, next INTEGER,
      state TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE delivery(
      id INTEGER PRIMARY KEY, webhook TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL, result TEXT NOT NULL,
      ms INTEGER NOT NULL, status INTEGER, detail TEXT);
    CREATE INDEX delivery_webhook ON delivery(webhook, id);
    """,
    // No query needs the index: row numbers rise with the time (ADR 33). `seen` is when a webhook was configured last.
    """
    DROP INDEX transition_at;
    ALTER TABLE webhook ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE target ADD COLUMN token TEXT;
    """,
    // The uptime reads all that it needs from the index: the rows of a target are spread over the table (ADR 33).
    """
    DROP INDEX transition_subject;
    CREATE INDEX transition_subject ON transition(subject, id, run, boottime, new);
    """,
    // Ages are those of the service's time, and a restored database is recognized by the token of its last run (ADR 52, 53).
    // `stretch`: from an event and a transition on, the wall clock was at a time of CLOCK_BOOTTIME. `period`: when an hour or
    // a day of samples was written last.
    """
    ALTER TABLE run ADD COLUMN token INTEGER;
    ALTER TABLE run ADD COLUMN service INTEGER;
    ALTER TABLE webhook ADD COLUMN seen_service INTEGER;
    CREATE TABLE stretch(
      id INTEGER PRIMARY KEY, run INTEGER NOT NULL, at INTEGER NOT NULL, uptime INTEGER NOT NULL, event INTEGER NOT NULL,
      transition INTEGER NOT NULL);
    CREATE TABLE period(
      kind INTEGER NOT NULL, number INTEGER NOT NULL, service INTEGER NOT NULL, PRIMARY KEY(kind, number)) WITHOUT ROWID;
    """ + ServiceTime.completion + SamplePeriod.adoption,
  ]

  /// The version of the tables in a file, 0 for a new one, and whether this program can use them.
  ///
  /// - Throws: SQLite's error; damage if the file is of another program, or if its version is one that no program writes.
  static func version(of connection: DatabaseConnection) throws(DatabaseError) -> (found: Int, isUsable: Bool) {
    let found = try connection.query("PRAGMA user_version") { Int($0.integer(0)) }.first ?? 0
    // The version is set with the tables, in one transaction.
    let objects = try connection.query("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }.first ?? 0
    guard found > 0 || found == 0 && objects == 0 else {
      throw DatabaseError(damage: "the tables are not those of a store: version \(found)", connection.path)
    }
    guard found > version else { return (found, true) }
    // A later version that only adds tables and columns can be used.
    do throws(DatabaseError) {
      let oldest = try connection.query("SELECT value FROM meta WHERE key = 'compatible_from'") { Int($0.integer(0)) }
      return (found, oldest.first.map { $0 <= version } ?? false)
    } catch {
      throw error.asDamage
    }
  }

  /// Brings the tables from a version to ``version``, each step in a transaction, and verifies them.
  ///
  /// - Throws: SQLite's error; damage if the tables are not those of the version.
  static func migrate(_ connection: DatabaseConnection, from found: Int) throws(DatabaseError) {
    do throws(DatabaseError) {
      for step in min(max(0, found), version)..<version {
        try connection.transaction { () throws(DatabaseError) in
          try connection.execute(migrations[step])
          try connection.run(
            "INSERT INTO meta VALUES('compatible_from', ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            .integer(Int64(compatibleFrom)))
          try connection.execute("PRAGMA user_version=\(step + 1)")
        }
      }
      try verify(connection)
    } catch {
      throw error.asDamage
    }
  }
}
