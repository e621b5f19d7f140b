import Database
import TestSupport
import Testing

@testable import History

/// A database of 0.1.0, whose schema has version 3.
@Suite struct SchemaMigrationTests {
  private let directory: StoreDirectory
  private let path: String

  init() throws {
    directory = try StoreDirectory()
    path = "\(directory.data.path)/reachd.db"
  }

  /// Writes what 0.1.0 leaves after a clean end: two runs, events, transitions and samples.
  private func makeDatabase() throws {
    let connection = try DatabaseConnection(path, .readWrite)
    try StoreSchema.configure(connection, isNew: true, maximumBytes: 1 << 32)
    for step in StoreSchema.migrations.prefix(3) { try connection.execute(step) }
    let now = StoreTime.now
    let (start, hour) = (now.wall - 3_600_000_000, now.wall / 3_600_000_000)
    try connection.execute(
      """
      PRAGMA user_version=3;
      INSERT INTO meta VALUES('compatible_from', 1), ('epoch', '6f1c2a90'), ('inode', '\(try identity())');
      INSERT INTO run VALUES(1, '6f1c2a90', 'a', \(start), 1000000, \(start + 600_000_000), 601000000, NULL, 0),
        (2, '6f1c2a90', 'b', \(start + 700_000_000), 5000000, \(start + 900_000_000), 205000000, NULL, 1);
      INSERT INTO subject(name, state) VALUES('machine', NULL), ('target:db', x'01');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO event SELECT i, \(start) + i * 1000000, 0, 1, 'event ' || i FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO transition SELECT i, '6f1c2a90', i, \(start) + i * 1000000, 1000000 + i * 1000000, 1, 1, 0, 0, 3, NULL, 0, 0
        FROM n;
      INSERT INTO target VALUES(2, '{}', 'runtime', 7, x'01', NULL);
      INSERT INTO webhook VALUES('ops', '6f1c2a90', 490, 0, NULL, '{}', 0);
      """)
    for back in Int64(0)..<60 {
      for kind in SamplePeriod.Kind.allCases {
        try connection.run(
          "INSERT INTO \(kind.table)(key, data) VALUES(?, x'00')", .integer(SampleKey.key(hour - back, 2)))
      }
    }
    // A row of a time when the clock was wrong.
    try connection.run("INSERT INTO sample(key, data) VALUES(?, x'00')", .integer(SampleKey.key(hour + 10_000, 2)))
  }

  private func identity() throws -> String {
    let directory = try #require(try DataDirectory(locking: directory.data.path))
    return try #require(directory.identity(of: "reachd.db"))
  }

  @Test func historyAndIDsAreKept() async throws {
    try makeDatabase()
    for run in Int64(3)...5 {
      let store = try directory.open()
      #expect(store.recovered.lastEnd == .clean)
      #expect(store.recovered.epoch == "6f1c2a90")
      #expect(store.recovered.lastSequence == 500)
      #expect(store.recovered.targets.map(\.id) == ["db"])
      #expect(store.recovered.run == run)
      // The age of what 0.1.0 has stored begins with the update.
      #expect(store.age(of: 1, at: 0) < .seconds(60))
      let counts = try await store.rows { (db) throws(DatabaseError) in
        try ["event", "transition WHERE seq > 0", "sample", "hour", "webhook"].map { (table) throws(DatabaseError) in
          try db.query("SELECT count(*) FROM \(table)") { $0.integer(0) }.first
        }
      }
      #expect(counts == [500, 500, 61, 60, 1])
      let start = StoreTime.now.wall - 3_600_000_000
      let first = try await store.rows { (db) throws(DatabaseError) in
        try HistoryReader(db).firstEvent(at: start + 250_000_000)
      }
      #expect((245...256).contains(first ?? 0), "events before the update are selected by their times")
      let services = try await store.rows { (db) throws(DatabaseError) in
        try db.query("SELECT service FROM run ORDER BY id LIMIT 3") { $0.integer(0) }
      }
      #expect(services == [0, 600_000_000, 800_000_000])
      #expect(store.close(within: .seconds(10)))
    }
  }

  @Test func samplesExpireInTheirOrder() throws {
    try makeDatabase()
    let connection = try DatabaseConnection(path, .readWrite)
    try StoreSchema.migrate(connection, from: 3)
    let periods = try connection.query("SELECT kind, count(*), max(service) - min(service) FROM period GROUP BY kind") {
      [$0.integer(0), $0.integer(1), $0.integer(2)]
    }
    let hour: Int64 = 3_600_000_000
    #expect(periods == [[0, 61, 60 * hour], [1, 60, 59 * hour], [2, 60, 59 * 24 * hour]])
    var progress = RetentionProgress()
    let now = StoreTime(wall: 0, uptime: 205_000_000)
    for _ in 0..<100 {
      let hasMore = try connection.transaction { () throws(DatabaseError) in
        try HistoryRetention.apply(connection, RetentionPolicy(), &progress, now: now)
      }
      if !hasMore { break }
    }
    #expect(try connection.query("SELECT count(*) FROM sample") { $0.integer(0) } == [49])
    #expect(try connection.query("SELECT count(*) FROM hour") { $0.integer(0) } == [60])
  }

  /// A version that does not know the columns has written a run.
  @Test func aRunOfAnEarlierVersionIsCompleted() throws {
    try makeDatabase()
    let first = try directory.open()
    #expect(first.close(within: .seconds(10)))
    let connection = try DatabaseConnection(path, .readWrite)
    let before = try #require(
      try connection.query("SELECT service + alive_uptime - started_uptime FROM run WHERE id = 3") { $0.integer(0) }
        .first)
    try connection.execute(
      """
      INSERT INTO run(id, epoch, boot, started, started_uptime, alive, alive_uptime, clean)
        VALUES(4, '6f1c2a90', 'c', 5000000, 5000000, 65000000, 65000000, 1);
      INSERT INTO event VALUES(501, 6000000, 0, 1, 'event');
      """)
    let second = try directory.open()
    #expect(second.recovered.lastEnd == .clean, "the ids continue: \(second.recovered.lastEnd)")
    #expect(second.recovered.lastSequence == 501)
    #expect(second.close(within: .seconds(10)))
    let services = try connection.query("SELECT service FROM run WHERE id > 3 ORDER BY id") { $0.integer(0) }
    #expect(services == [before, before + 60_000_000])
  }

  @Test func anInterruptedMigrationChangesNothing() throws {
    try makeDatabase()
    let connection = try DatabaseConnection(path, .readWrite)
    // It ends with an error, as with a full disk, after everything was written.
    #expect(throws: DatabaseError.self) {
      try connection.transaction { () throws(DatabaseError) in
        try connection.execute(StoreSchema.migrations[3])
        try connection.execute("INSERT INTO nothing VALUES(1)")
      }
    }
    #expect(
      try connection.query("SELECT name FROM sqlite_schema WHERE name IN ('stretch', 'period')") { _ in 0 }.isEmpty)
    let store = try directory.open()
    #expect(store.recovered.lastSequence == 500)
    #expect(store.close(within: .seconds(10)))
  }
}
