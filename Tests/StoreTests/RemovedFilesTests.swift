import Glibc
import TestSupport
import Testing

@Suite("Files that are removed or replaced while the service runs", .needsNamespaces)
struct RemovedFilesTests {
  private let fixture: StoreFixture
  /// The data directory, which a test may remove or rename.
  private let path: String
  private let configuration = "policy: { allow: ['127.0.0.0/8'] }\n"

  init() throws {
    fixture = try StoreFixture()
    path = fixture.data.path + "/data"
  }

  /// What happens to the files.
  enum Loss: String, CaseIterable {
    case database, databaseOnly, directory, renamedDirectory, replacedDatabase, replacedDirectory, truncated
    case emptied, log, index, logAndIndex, replacedLog
  }

  private func shell(_ script: String) throws {
    try fixture.namespace.run("/bin/sh", ["-euc", "cd \(fixture.data.path); \(script)"])
  }

  private func lose(_ loss: Loss) throws {
    switch loss {
    case .database: try shell("rm data/reachd.db data/reachd.db-wal data/reachd.db-shm")
    case .databaseOnly: try shell("rm data/reachd.db")
    case .directory: try shell("rm -r data")
    case .renamedDirectory: try shell("mv data other")
    case .replacedDatabase: try shell("sqlite3 data/reachd.db '.backup copy.db'; mv copy.db data/reachd.db")
    case .replacedDirectory: try shell("mv data other; mkdir -m 700 data")
    case .truncated: try shell("truncate -s 20480 data/reachd.db")
    case .emptied: try shell(": > data/reachd.db")
    case .log: try shell("rm data/reachd.db-wal")
    case .index: try shell("rm data/reachd.db-shm")
    case .logAndIndex: try shell("rm data/reachd.db-wal data/reachd.db-shm")
    case .replacedLog: try shell("cp data/reachd.db-wal copy; mv copy data/reachd.db-wal")
    }
  }

  private func start() throws -> StoreDaemon {
    try fixture.start(configuration: configuration, data: path)
  }

  /// Changes the MTU, and returns the id of the last event then.
  private func change(_ daemon: StoreDaemon, _ values: ClosedRange<Int>) throws -> String {
    try fixture.change(daemon, values)
    return try #require(try JSONValue(daemon.get("/status").text)["id"]?.text)
  }

  private func number(_ id: String) -> Int? { id.split(separator: "-").last.flatMap { Int($0) } }

  @Test("It is noticed and reported, and what is in force is in the new file", arguments: Loss.allCases)
  func lost(_ loss: Loss) throws {
    let first = try start()
    let body = #"{"id": "a", "target": "tcp://127.0.0.1:9", "interval": "1s", "labels": {"env": "test"}}"#
    #expect(try first.send("POST", "/targets", body).status == 201)
    let early = try change(first, 1301...1310)
    try first.terminate()
    // A database file that has something to lose.
    try fixture.emptyLog(in: path)
    let daemon = try start()
    _ = try change(daemon, 1311...1315)
    try lose(loss)
    #expect(
      eventually(within: .seconds(40)) { daemon.child.errors.contains("files of the store") }, "\(daemon.child.errors)")
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    let metrics = try daemon.get("/metrics").text
    #expect(!metrics.contains("reachd_store_detached_total 0\n"), "it was detached meanwhile")
    #expect(try daemon.send("POST", "/targets", #"{"id": "b", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    // Without a webhook, a client that stays connected misses nothing.
    let last = try change(daemon, 1401...1410)
    #expect(try fixture.launchSecond(path) == .exited(69), "the directory is locked")
    try daemon.terminate()

    let next = try start()
    #expect(try next.get("/targets/a").status == 200, "\(next.child.errors)")
    #expect(try next.get("/targets/b").status == 200)
    let reader = try next.events(after: last)
    try fixture.changeMTU([1500])
    #expect(
      try reader.next()?.number == number(last).map { $0 + 1 }, "ids continue in the new file: \(next.child.errors)")
    let old = try #require(try next.events(after: early).next())
    #expect(old.name == "gap" || old.number == number(early).map { $0 + 1 }, "\(old)")
    try next.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check", in: path) == "ok\n")
  }

  @Test(
    "A kill after the loss begins a new epoch or continues, and no target is lost",
    arguments: [Loss.database, .directory])
  func killed(_ loss: Loss) throws {
    let daemon = try start()
    #expect(try daemon.send("POST", "/targets", #"{"id": "a", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    _ = try change(daemon, 1301...1310)
    try lose(loss)
    #expect(eventually(within: .seconds(40)) { daemon.child.errors.contains("files of the store") })
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    let last = try change(daemon, 1401...1403)
    daemon.child.kill()
    _ = try daemon.child.wait()
    let next = try start()
    #expect(try next.get("/targets/a").status == 200)
    let reader = try next.events(after: last)
    try fixture.changeMTU([1500])
    #expect(try reader.next()?.number == number(last).map { $0 + 1 }, "a kill loses nothing: \(next.child.errors)")
    try next.terminate()
  }

  @Test("A lock file that is removed is created again, and a second process is refused meanwhile")
  func lockFile() throws {
    let daemon = try start()
    let early = try change(daemon, 1301...1303)
    try shell("rm data/lock")
    #expect(try fixture.launchSecond(path) == .exited(69))
    #expect(eventually(within: .seconds(40)) { unsafe access("\(path)/lock", F_OK) == 0 }, "\(daemon.child.errors)")
    #expect(try fixture.launchSecond(path) == .exited(69))
    let last = try change(daemon, 1401...1403)
    daemon.child.kill()
    _ = try daemon.child.wait()
    let next = try start()
    let reader = try next.events(after: early)
    #expect(try reader.next()?.number == number(early).map { $0 + 1 }, "the ids continue: \(next.child.errors)")
    #expect(last.prefix(8) == early.prefix(8))
    try next.terminate()
  }

  @Test("While the directory cannot be made again, the service says so, and changes are not reported as stored")
  func missingParent() throws {
    try shell("mkdir parent")
    let path = fixture.data.path + "/parent/data"
    let daemon = try fixture.start(configuration: configuration, data: path)
    _ = try change(daemon, 1301...1303)
    try shell("mv parent other")
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("detached") }, "\(daemon.child.errors)")
    #expect(try daemon.get("/readyz?verbose").text.contains("deleted"))
    #expect(try daemon.get("/readyz").status == 200)
    #expect(try daemon.send("POST", "/targets", #"{"id": "a", "target": "tcp://127.0.0.1:9"}"#).status == 503)
    try shell("mkdir parent")
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    try daemon.terminate()
    let next = try fixture.start(configuration: configuration, data: path)
    #expect(try next.get("/targets/a").status == 200)
    try next.terminate()
  }

  @Test("A directory that comes back continues with what it has, and its gap is known")
  func renamedBack() throws {
    let daemon = try start()
    let early = try change(daemon, 1301...1303)
    try shell("mv data other")
    #expect(eventually(within: .seconds(40)) { daemon.child.errors.contains("files of the store") })
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    let middle = try change(daemon, 1401...1403)
    try shell("mv data third; mv other data")
    let detached = { try daemon.get("/metrics").text.contains("reachd_store_detached_total 2\n") }
    #expect(try eventually(within: .seconds(40)) { try detached() }, "\(daemon.child.errors)")
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    let last = try change(daemon, 1501...1503)
    try daemon.terminate()
    let next = try start()
    for id in [early, middle] {
      let first = try #require(try next.events(after: id).next())
      #expect(first.name == "gap" || first.number == number(id).map { $0 + 1 }, "\(first)")
    }
    let reader = try next.events(after: last)
    try fixture.changeMTU([1600])
    #expect(try reader.next()?.number == number(last).map { $0 + 1 }, "\(next.child.errors)")
    try next.terminate()
    #expect(
      try fixture.sqlite(
        "SELECT count(*) FROM event WHERE EXISTS (SELECT 1 FROM hole WHERE seq BETWEEN first AND last)", in: path)
        == "0\n")
  }

  @Test("A mount over the directory, and its end, are noticed")
  func mounted() throws {
    let daemon = try fixture.start(
      configuration: configuration, launcher: ["/usr/bin/unshare", "-m", "--"], data: path)
    func inside(_ command: String) throws {
      try fixture.namespace.run(
        "/usr/bin/nsenter", ["-m", "-t", "\(daemon.child.id)", "/bin/sh", "-euc", command])
    }
    #expect(try daemon.send("POST", "/targets", #"{"id": "a", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    let early = try change(daemon, 1301...1303)
    try inside("mount -t tmpfs -o size=8m,mode=700 tmpfs \(path)")
    #expect(eventually(within: .seconds(40)) { daemon.child.errors.contains("files of the store") })
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    _ = try change(daemon, 1401...1403)
    try inside("umount -l \(path)")
    let detached = { try daemon.get("/metrics").text.contains("reachd_store_detached_total 2\n") }
    #expect(try eventually(within: .seconds(40)) { try detached() }, "\(daemon.child.errors)")
    #expect(try eventually(within: .seconds(40)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    let last = try change(daemon, 1501...1503)
    try daemon.terminate()
    let next = try start()
    #expect(try next.get("/targets/a").status == 200)
    let reader = try next.events(after: last)
    try fixture.changeMTU([1600])
    #expect(try reader.next()?.number == number(last).map { $0 + 1 }, "\(next.child.errors)")
    let old = try #require(try next.events(after: early).next())
    #expect(old.name == "gap" || old.number == number(early).map { $0 + 1 }, "\(old)")
    try next.terminate()
  }
}
