import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("DatabaseConnection")
struct DatabaseConnectionTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open() throws -> DatabaseConnection { try DatabaseConnection(directory.path + "/test.db") }

  @Test("Values return as they were stored")
  func values() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t(a, b, c, d, e)")
    try connection.run("INSERT INTO t VALUES(?, ?, ?, ?, ?)", 7, "a\u{0}ü", .blob([0, 255]), nil, .bits(.max))
    try connection.run("INSERT INTO t VALUES(?, ?, ?, ?, ?)", 8, "", .blob([UInt8]()), .real(0.5), 1)
    let rows = try connection.query("SELECT * FROM t ORDER BY a") { row in
      "\(row.integer(0)) \(row.text(1) ?? "-") \(row.blob(2)) \(row.isNull(3)) \(row.real(3)) \(row.bits(4))"
    }
    #expect(rows == ["7 a\u{0}ü [0, 255] true 0.0 18446744073709551615", "8  [] false 0.5 1"])
  }

  @Test("A transaction that throws leaves nothing, and the next one works")
  func rollback() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY)")
    let failure = #expect(throws: DatabaseError.self) {
      try connection.transaction { () throws(DatabaseError) in
        try connection.run("INSERT INTO t VALUES(1)")
        try connection.run("INSERT INTO t VALUES(1)")
      }
    }
    #expect(failure?.isOfStatement == true)
    try connection.transaction { () throws(DatabaseError) in _ = try connection.run("INSERT INTO t VALUES(2)") }
    #expect(try connection.query("SELECT a FROM t") { $0.integer(0) } == [2])
  }

  @Test("A query ends at its deadline")
  func deadline() throws {
    let connection = try open()
    connection.deadlineNanoseconds = MonotonicInstant.now.nanoseconds + 1_000_000
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    let failure = #expect(throws: DatabaseError.self) {
      _ = try connection.query(endless) { $0.integer(0) }
    }
    #expect(failure?.isInterrupted == true)
    connection.deadlineNanoseconds = nil
    #expect(try connection.query("SELECT 1") { $0.integer(0) } == [1])
  }

  @Test("A file that is no database is damage, and a missing one cannot be read")
  func errors() throws {
    let path = try directory.write(String(repeating: "no database ", count: 1000), as: "wrong.db")
    let connection = try DatabaseConnection(path)
    let damage = #expect(throws: DatabaseError.self) {
      _ = try connection.query("SELECT * FROM sqlite_schema") { _ in }
    }
    #expect(damage?.isDamage == true)
    let denied = #expect(throws: DatabaseError.self) { _ = try DatabaseConnection(directory.path + "/none", .readOnly) }
    #expect(denied?.isDenied == true)
  }

  @Test("The log grows with commits, and closing keeps it")
  func log() throws {
    var connection: DatabaseConnection? = try open()
    try connection?.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
    try connection?.run("INSERT INTO t VALUES(1)")
    #expect(try #require(connection?.logBytes) > 0)
    connection = nil
    let second = try open()
    #expect(try second.query("SELECT a FROM t") { $0.integer(0) } == [1])
    #expect(try second.checkpoint().pages > 0, "closing did not checkpoint")
  }
}
