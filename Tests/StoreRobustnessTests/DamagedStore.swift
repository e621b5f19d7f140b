import Database
import Glibc
import HostProcess
import TestSupport

/// A data directory whose database was written by the service, and then changed as bytes decide: bits, rows, tables, files.
///
/// The same bytes make the same changes, so that a seed or an input of libFuzzer repeats them.
struct DamagedStore {
  let data: TemporaryDirectory
  let runtime: TemporaryDirectory
  /// What was changed, for a failing test.
  private(set) var changes: [String] = []
  private var source: ArraySlice<UInt8>
  private var path: String { "\(data.path)/reachd.db" }

  /// The most changes that are made to one store: with more, nothing of it can be read.
  private static let changeLimit = 6

  /// Copies a database, and changes the copy.
  init(_ template: StoreTemplate, _ bytes: [UInt8]) throws {
    data = try TemporaryDirectory()
    runtime = try TemporaryDirectory(in: "/dev/shm")
    source = bytes[...]
    try write(template.database)
    // Another file than the one of the last run would begin a new epoch, and no event would be read.
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw TestError("stat \(path): \(errno)") }
    let inode = "\(status.st_dev)-\(status.st_ino)"
    try change { (connection) throws(DatabaseError) in
      try connection.run("UPDATE meta SET value = ? WHERE key = 'inode'", .text(inode))
      try connection.run("UPDATE run SET boot = ?", .text(BootID.current))
    }
    for _ in 0..<Self.changeLimit where !source.isEmpty { changeOnce() }
  }

  /// Copies a database, and runs statements in the copy.
  init(_ template: StoreTemplate, statements: String) throws {
    try self.init(template, [])
    changes.append(statements)
    try change { (connection) throws(DatabaseError) in try connection.execute(statements) }
  }

  // MARK: - Decisions

  private mutating func byte() -> Int { Int(source.popFirst() ?? 0) }

  private mutating func number(below limit: Int) -> Int {
    guard limit > 0 else { return 0 }
    let digits = limit <= 256 ? 1 : limit <= 65_536 ? 2 : 3
    return (0..<digits).reduce(0) { number, _ in number << 8 | byte() } % limit
  }

  private mutating func one<Element>(of list: [Element]) -> Element { list[number(below: list.count)] }

  // MARK: - Changes

  private mutating func changeOnce() {
    switch number(below: 16) {
    case 0...1: flipBits("reachd.db")
    case 2: overwrite()
    case 3: truncate()
    case 4: copyPage()
    case 5...9: setValue()
    case 10: insertRow()
    case 11: copyRow()
    case 12: changeSchema()
    case 13: changePragma()
    case 14: deleteRows()
    default: replaceFile()
    }
  }

  private mutating func flipBits(_ name: String) {
    var bytes = read(name)
    guard !bytes.isEmpty else { return }
    for _ in 0...number(below: 4) {
      // The header and the schema are as likely as all of the rest.
      let offset = number(below: byte() < 128 ? min(bytes.count, 4096) : bytes.count)
      bytes[offset] ^= 1 << UInt8(number(below: 8))
      changes.append("bit of byte \(offset)")
    }
    try? write(bytes, name)
  }

  private mutating func overwrite() {
    var bytes = read("reachd.db")
    guard !bytes.isEmpty else { return }
    let offset = number(below: bytes.count)
    for place in offset..<min(bytes.count, offset + 1 + number(below: 64)) { bytes[place] = UInt8(byte()) }
    changes.append("bytes from \(offset)")
    try? write(bytes)
  }

  private mutating func truncate() {
    let bytes = read("reachd.db")
    let count = number(below: bytes.count)
    changes.append("truncated to \(count)")
    try? write(Array(bytes.prefix(count)))
  }

  private mutating func copyPage() {
    var bytes = read("reachd.db")
    let pages = bytes.count / 1024
    guard pages > 1 else { return }
    let (from, to) = (number(below: pages), number(below: pages))
    bytes.replaceSubrange(to * 1024..<(to + 1) * 1024, with: bytes[from * 1024..<(from + 1) * 1024])
    changes.append("page \(from) over page \(to)")
    try? write(bytes)
  }

  private mutating func setValue() {
    let (table, columns) = one(of: Self.tables)
    let column = one(of: columns)
    let value = oddValue()
    let place = number(below: 8)
    run(
      "UPDATE OR REPLACE \(table) SET \(column) = \(value) WHERE \(columns[0]) = (\(Self.row(table, columns[0], place)))"
    )
  }

  private mutating func insertRow() {
    let (table, columns) = one(of: Self.tables)
    let values = columns.map { _ in oddValue() }
    run("INSERT OR REPLACE INTO \(table)(\(columns.joined(separator: ", "))) VALUES(\(values.joined(separator: ", ")))")
  }

  /// Adds a row that differs from another one in its key only.
  private mutating func copyRow() {
    let (table, columns) = one(of: Self.tables)
    let rest = columns.dropFirst().joined(separator: ", ")
    let (key, place) = (oddValue(), number(below: 8))
    run(
      """
      INSERT OR REPLACE INTO \(table)(\(columns.joined(separator: ", "))) SELECT \(key), \(rest) FROM \(table)
      WHERE \(columns[0]) = (\(Self.row(table, columns[0], place)))
      """)
  }

  private mutating func deleteRows() {
    let (table, columns) = one(of: Self.tables)
    run("DELETE FROM \(table) WHERE \(columns[0]) = (\(Self.row(table, columns[0], number(below: 8))))")
  }

  private mutating func changeSchema() {
    let (table, columns) = one(of: Self.tables)
    let column = one(of: columns)
    switch number(below: 7) {
    case 0: run("DROP TABLE \(table)")
    case 1: run("ALTER TABLE \(table) RENAME TO it's", isQuoted: true)
    case 2: run("ALTER TABLE \(table) RENAME COLUMN \(column) TO other")
    case 3: run("ALTER TABLE \(table) ADD COLUMN more NOT NULL DEFAULT 'x'")
    case 4:
      run("CREATE TABLE moved AS SELECT * FROM \(table); DROP TABLE \(table); ALTER TABLE moved RENAME TO \(table)")
    case 5: run("DROP TABLE \(table); CREATE VIEW \(table) AS SELECT * FROM run, run, run")
    default:
      run(
        """
        CREATE TRIGGER slow BEFORE INSERT ON \(table) BEGIN
          SELECT max(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END
        """)
    }
  }

  private mutating func changePragma() {
    let numbers = [-1, 0, 1, 2, 3, 4, Int(Int32.min), Int(Int32.max), Int(Int32.min) + 3, 0x4000_0003]
    switch number(below: 4) {
    case 0: run("PRAGMA application_id=\(one(of: numbers))")
    case 1: run("PRAGMA journal_mode=DELETE")
    default: run("PRAGMA user_version=\(one(of: numbers))")
    }
  }

  private mutating func replaceFile() {
    changes.append("another file")
    if number(below: 2) == 0 {
      let rest = Array(source)
      source = []
      try? write(rest)
    } else {
      _ = unsafe unlink(path)
      run("CREATE TABLE meta(a, b, c); CREATE TABLE notes(text); INSERT INTO notes VALUES('of another program')")
    }
  }

  // MARK: - Rows

  /// The tables, with their columns; the key is the first.
  private static let tables: [(name: String, columns: [String])] = [
    ("meta", ["key", "value"]),
    ("run", ["id", "epoch", "boot", "started", "started_uptime", "alive", "alive_uptime", "ended", "clean"]),
    ("hole", ["first", "last"]), ("subject", ["ref", "name", "state"]),
    ("event", ["seq", "at", "type", "subject", "body"]),
    (
      "transition",
      ["id", "epoch", "seq", "at", "boottime", "run", "subject", "type", "old", "new", "reason", "cause", "flags"]
    ),
    ("target", ["ref", "definition", "origin", "revision", "state", "token"]),
    ("sample_minute", ["minute", "data"]), ("sample", ["key", "data"]), ("hour", ["key", "data"]),
    ("day", ["key", "data"]), ("webhook", ["id", "epoch", "cursor", "attempt", "next", "state", "seen"]),
    ("delivery", ["id", "webhook", "event", "at", "result", "ms", "status", "detail"]),
    ("sqlite_sequence", ["name", "seq"]),
  ]

  private static func row(_ table: String, _ key: String, _ place: Int) -> String {
    let order = place.isMultiple(of: 2) ? "DESC" : "ASC"
    return "SELECT \(key) FROM \(table) ORDER BY \(key) \(order) LIMIT 1 OFFSET \(place / 2)"
  }

  /// A value as SQL: of any type, also beyond the range of its column.
  private mutating func oddValue() -> String {
    let numbers: [Int64] = [
      0, 1, 2, -1, .min, .max, .min + 1, .max - 1, 1 << 31, -(1 << 31), 1 << 32, 1 << 40, 1 << 53, 1 << 60, 1 << 62,
      -(1 << 62), 63, 64, 200, 255, 256, 65_535, 9_999_999_999_999_999, 253_402_300_800_000_000, 3_600_000,
    ]
    let texts = [
      "", "-", "0", "6f1c2a90", "6F1C2A90", "zzzzzzzz", "6f1c2a90 9223372036854775807 9223372036854775807", "machine",
      "target:a", "target:", "interface:eth0", "interface:", "service", "{}", "[]",
      "{\"rejections\": 9223372036854775807}",
      "{\"gap\":{\"reason\":\"expired\",\"after\":\"x\",\"last\":\"18446744073709551615\",\"count\":9223372036854775807,\"time\":-9223372036854775808}}",
      "line\nline", "d41d8cd9-8f00-b204-e980-0998ecf8427e",
    ]
    switch number(below: 10) {
    case 0...4: return "\(one(of: numbers))"
    case 5: return "'\(one(of: texts))'"
    case 6: return "NULL"
    case 7: return one(of: ["1e308", "-1e308", "0.5", "-0.5", "9e999", "-9e999"])
    case 8:
      return one(of: [
        "x''", "x'00'", "CAST(x'ff00fe80' AS TEXT)", "zeroblob(1000)", "zeroblob(100000)", "x'ffffffffffffffffff01'",
      ])
    default:
      let count = 1 + number(below: 40)
      return "x'" + (0..<count).map { _ in Self.hexadecimal(byte()) }.joined() + "'"
    }
  }

  private static func hexadecimal(_ byte: Int) -> String {
    let text = String(byte, radix: 16)
    return byte < 16 ? "0\(text)" : text
  }

  // MARK: - Files

  private mutating func run(_ statements: String, isQuoted: Bool = false) {
    let text = isQuoted ? statements.replacing("it's", with: "\"it's\"") : statements
    changes.append(text)
    try? change { (connection) throws(DatabaseError) in try connection.execute(text) }
  }

  private func change(_ body: (DatabaseConnection) throws(DatabaseError) -> Void) throws(DatabaseError) {
    let connection = try DatabaseConnection(path)
    try body(connection)
    // The next change may be one of bytes.
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func read(_ name: String) -> [UInt8] { StoreTemplate.read("\(data.path)/\(name)") }

  private func write(_ bytes: [UInt8], _ name: String = "reachd.db") throws {
    let file = "\(data.path)/\(name)"
    // In place: the service identifies the file by its inode.
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TestError("open \(file): \(errno)") }
    defer { close(descriptor) }
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw TestError("write \(file): \(errno)") }
  }
}
