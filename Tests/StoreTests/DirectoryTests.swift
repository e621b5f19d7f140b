import Glibc
import TestSupport
import Testing

@Suite("The data directory", .needsNamespaces)
struct DirectoryTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private func end(_ data: String) throws -> (end: Child.End, errors: String) {
    let child = try StoreDaemon.launch(fixture, data)
    return (try child.wait(within: .seconds(60)), child.errors)
  }

  @Test("A second process ends with 69, and names the directory")
  func second() throws {
    let first = try fixture.start()
    let (end, errors) = try end(fixture.data.path)
    #expect(end == .exited(69))
    #expect(errors.contains("\(fixture.data.path) is used by another process"))
    try first.terminate()
  }

  @Test("A file instead of a directory, and one whose parent does not exist, end with 78")
  func notADirectory() throws {
    let file = try fixture.data.write("", as: "file")
    #expect(try end(file).end == .exited(78))
    #expect(try end("\(fixture.data.path)/none/none").end == .exited(78))
  }

  @Test("A database of a later version ends with 78, and is not changed")
  func newerSchema() throws {
    let first = try fixture.start()
    try first.terminate()
    _ = try fixture.sqlite("PRAGMA user_version=99; UPDATE meta SET value = 99 WHERE key = 'compatible_from'")
    let before = try fixture.sqlite("SELECT count(*), max(id) FROM run")
    let (end, errors) = try end(fixture.data.path)
    #expect(end == .exited(78))
    #expect(errors.contains("schema 99"))
    #expect(try fixture.sqlite("SELECT count(*), max(id) FROM run") == before)
  }

  @Test("A damaged database is set aside and kept, and a new epoch begins")
  func damage() throws {
    let first = try fixture.start()
    let snapshot = try #require(try first.events().next())
    try first.terminate()
    for name in ["reachd.db-wal", "reachd.db-shm"] { _ = unsafe unlink("\(fixture.data.path)/\(name)") }
    _ = try fixture.data.write(String(repeating: "damaged ", count: 4096), as: "reachd.db")
    let second = try fixture.start()
    #expect(fixture.data.names.contains { $0.hasPrefix("reachd.db.damaged-") })
    let reader = try second.events(after: snapshot.id)
    #expect(try reader.next()?.name == "gap")
    #expect(second.child.errors.contains("set aside"))
    try second.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
  }

  @Test("store check ends with 0, with 69 while the directory is in use, and with 1 after damage")
  func check() throws {
    func check() throws -> Child.End {
      try fixture.namespace.spawn(
        StoreDaemon.program, ["store", "check", "--data", fixture.data.path], environment: [:]
      )
      .wait()
    }
    let daemon = try fixture.start()
    #expect(try check() == .exited(69))
    try daemon.terminate()
    #expect(try check() == .exited(0))
    for name in ["reachd.db-wal", "reachd.db-shm"] { _ = unsafe unlink("\(fixture.data.path)/\(name)") }
    _ = try fixture.data.write(String(repeating: "damaged ", count: 4096), as: "reachd.db")
    #expect(try check() == .exited(1))
  }

  @Test("Without a directory there is one notice, and no file")
  func memoryOnly() throws {
    let child = try fixture.namespace.spawn(
      "/usr/bin/setpriv", ["--pdeathsig", "KILL", StoreDaemon.program, "serve", "--listen", "127.0.0.1:0"],
      environment: ["PATH": "/usr/bin:/bin"])
    eventually { child.errors.contains("memory only") }
    #expect(child.errors.split(separator: "\n").filter { $0.contains("memory only") }.count == 1)
    child.kill(15)
    try child.wait()
  }
}
