import Glibc
import TestSupport
import Testing

/// `reachd store check`, with a database of a stopped service.
@Suite(.serialized) struct StoreCheckTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private func makeStore(keepsLog: Bool = false) throws {
    let daemon = try fixture.start(configuration: "policy: { allow: ['127.0.0.0/8'] }\n")
    _ = try #require(try daemon.events().next())
    #expect(try daemon.send("POST", "/targets", #"{"id": "kept", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    try daemon.terminate()
    guard !keepsLog else { return }
    try fixture.emptyLog()
    for name in ["reachd.db-wal", "reachd.db-shm"] { _ = unsafe unlink("\(fixture.data.path)/\(name)") }
  }

  private func check(_ before: [String] = []) throws -> (end: Child.End, output: String, errors: String) {
    let command = before + [StoreDaemon.program, "store", "check", "--data", fixture.data.path]
    let child = try fixture.namespace.spawn(command[0], Array(command.dropFirst()), environment: [:])
    return (try child.wait(), child.output, child.errors)
  }

  /// SQL, and a part of the line that names what it has changed.
  static let changes = [
    ("DROP INDEX transition_subject", "index transition_subject"),
    ("DROP INDEX transition_subject; CREATE INDEX transition_subject ON transition(subject)", "transition_subject"),
    ("DROP INDEX delivery_webhook", "index delivery_webhook"),
    ("DROP TABLE event", "table event"), ("DROP TABLE sample_minute", "table sample_minute"),
    ("ALTER TABLE run DROP COLUMN token", "table run"),
    ("ALTER TABLE webhook RENAME COLUMN next TO later", "table webhook"),
    ("PRAGMA user_version=3; DROP TABLE event", "table event"), ("PRAGMA user_version=0", "not those of a store"),
    ("PRAGMA user_version=-1", "not those of a store"), ("DELETE FROM subject WHERE name = 'machine'", "rows of event"),
    ("DELETE FROM subject WHERE name LIKE 'target:%'", "rows of target"), ("DELETE FROM run", "rows of transition"),
    ("UPDATE meta SET value = 'x' WHERE key = 'epoch'", "epoch"), ("DELETE FROM meta WHERE key = 'epoch'", "epoch"),
    ("INSERT INTO hole VALUES(1, 1)", "not kept"), ("UPDATE run SET id = -id", "run.id"),
    (
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'transition'", ""
    ),
  ]

  @Test("Changed tables and rows are found", arguments: changes.indices)
  func tables(_ index: Int) throws {
    try makeStore()
    _ = try fixture.sqlite(Self.changes[index].0)
    let (end, output, errors) = try check()
    #expect(end == .exited(1), "\(output)\(errors)")
    #expect(output.contains(Self.changes[index].1), "\(output)\(errors)")
  }

  @Test("The database of another program is not sound", arguments: [0, 1, 3, 4])
  func otherProgram(version: Int) throws {
    _ = try fixture.sqlite("CREATE TABLE bookmark(url TEXT); PRAGMA user_version=\(version)")
    let (end, output, errors) = try check()
    #expect(end == .exited(1), "\(output)\(errors)")
    #expect(output.contains("not those of a store"), "\(output)")
  }

  @Test("A page that is damaged is found, and a later version is not this program's")
  func pagesAndVersions() throws {
    try makeStore()
    _ = try fixture.sqlite("PRAGMA user_version=99")
    #expect(try check().end == .exited(0), "its tables can be used")
    _ = try fixture.sqlite("UPDATE meta SET value = 99 WHERE key = 'compatible_from'; PRAGMA journal_mode=DELETE")
    let (end, _, errors) = try check()
    #expect(end == .exited(78))
    #expect(errors.contains("schema 99"), "\(errors)")
    _ = try fixture.sqlite("PRAGMA user_version=4")
    let root = try #require(
      Int(try fixture.sqlite("SELECT rootpage FROM sqlite_schema WHERE name = 'event'").filter(\.isNumber)))
    try fixture.overwrite(at: (root - 1) * 1024 + 8, with: [UInt8](repeating: 0xff, count: 600))
    #expect(try check().end == .exited(1))
  }

  @Test("A check needs only the permission to read, and changes nothing", arguments: [true, false])
  func reading(keepsLog: Bool) throws {
    try makeStore(keepsLog: keepsLog)
    if !keepsLog { _ = unsafe unlink("\(fixture.data.path)/lock") }
    let before = fixture.data.names.sorted()
    let mount =
      "mount --bind \(fixture.data.path) \(fixture.data.path) && mount -o remount,bind,ro \(fixture.data.path)"
    let readOnly = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\(mount) && exec \"$@\"", "sh"]
    let (end, output, errors) = try check(readOnly)
    if keepsLog, end != .exited(0) {
      #expect(end == .exited(78), "the log has no index: \(output)\(errors)")
    } else {
      #expect(end == .exited(0), "\(output)\(errors)")
    }
    #expect(try check().end == .exited(0))
    if !keepsLog { #expect(fixture.data.names.sorted() == before) }
  }
}
