import Glibc
import TestSupport
import Testing

/// The library that makes the disk fail, and the file that says how.
struct FaultyDisk {
  let control: TemporaryDirectory
  private let library: String

  init() throws {
    control = try TemporaryDirectory()
    library = try PreloadedLibrary.build("fault", in: control)
  }

  func environment(_ fixture: StoreFixture) -> [String: String] {
    ["LD_PRELOAD": library, "FAULT_DIRECTORY": fixture.data.path, "FAULT_FILE": control.path + "/fault"]
  }

  /// Begins a fault: `eio`, `sync`, or the milliseconds of each write.
  func begin(_ fault: String) throws { _ = try control.write(fault, as: "fault") }

  /// Ends the fault.
  func end() { _ = unsafe unlink(control.path + "/fault") }
}

@Suite("A disk that fails or waits", .needsNamespaces, .serialized)
struct FaultTests {
  private let fixture: StoreFixture
  private let disk: FaultyDisk

  init() throws {
    fixture = try StoreFixture()
    disk = try FaultyDisk()
  }

  /// Reads events until the MTU of `d0` has a value.
  private func read(_ reader: EventReader, until mtu: Int) throws -> [StreamEvent] {
    var events: [StreamEvent] = []
    while events.last?.data["interface"]?["mtu"]?.integer != mtu { events.append(try #require(try reader.next())) }
    return events
  }

  @Test(
    "Events go on while the disk fails, and everything is committed after it", arguments: ["eio", "sync", "600000"])
  func goesOn(_ fault: String) throws {
    let daemon = try fixture.start(environment: disk.environment(fixture))
    let reader = try daemon.events()
    let snapshot = try #require(try reader.next())
    try disk.begin(fault)
    try fixture.changeMTU([1301])
    _ = try read(reader, until: 1301)
    #expect(try eventually { try daemon.state().contains("detached") })
    #expect(try daemon.get("/readyz").status == 200)
    #expect(try daemon.get("/readyz?verbose").text.contains("store"))
    try fixture.changeMTU([1302])
    _ = try read(reader, until: 1302)
    disk.end()
    #expect(try eventually(within: .seconds(30)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    // From here on a kill loses nothing again.
    try fixture.changeMTU([1303])
    let last = try #require(try read(reader, until: 1303).last)
    daemon.child.kill()
    _ = try daemon.child.wait()
    let second = try fixture.start()
    let next = try second.events(after: last.id)
    try fixture.changeMTU([1304])
    #expect(try next.next()?.number == last.number.map { $0 + 1 })
    let numbers = try second.events(after: snapshot.id)
    #expect(try numbers.next()?.number == snapshot.number.map { $0 + 1 })
    try second.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
    #expect(try fixture.sqlite("SELECT max(seq) - min(seq) + 1 - count(*) FROM event") == "0\n")
  }

  @Test("A kill while the disk waits begins a new epoch, and the reader gets a gap")
  func killedWhileDetached() throws {
    let daemon = try fixture.start(environment: disk.environment(fixture))
    let reader = try daemon.events()
    _ = try reader.next()
    try disk.begin("600000")
    try fixture.changeMTU([1301])
    let last = try #require(try read(reader, until: 1301).last)
    daemon.child.kill()
    disk.end()
    _ = try daemon.child.wait()
    let second = try fixture.start()
    let next = try second.events(after: last.id)
    #expect(try next.next()?.name == "gap")
    let snapshot = try #require(try next.next())
    #expect(snapshot.name == "snapshot")
    #expect(snapshot.id?.prefix(8) != last.id?.prefix(8), "no id has two contents")
    try second.terminate()
  }

  @Test("SIGTERM with a disk that waits ends within the grace period, and the next run has new ids")
  func terminates() throws {
    let daemon = try fixture.start(environment: disk.environment(fixture), arguments: ["--grace", "2s"])
    let reader = try daemon.events()
    _ = try reader.next()
    try disk.begin("600000")
    try fixture.changeMTU([1301])
    let last = try #require(try read(reader, until: 1301).last)
    daemon.child.kill(SIGTERM)
    #expect(try daemon.child.wait(within: .seconds(30)) == .exited(0))
    disk.end()
    let second = try fixture.start()
    #expect(try second.events(after: last.id).next()?.name == "gap")
    try second.terminate()
  }

  @Test("A change of a target waits for its commit, and is answered with 503 when the disk does not respond")
  func targetWrite() throws {
    let daemon = try fixture.start(
      configuration: "policy: { allow: ['127.0.0.0/8'] }\n", environment: disk.environment(fixture))
    try disk.begin("600000")
    let (status, text) = try daemon.send("POST", "/targets", #"{"id": "a", "target": "tcp://127.0.0.1:9"}"#)
    #expect(status == 503)
    #expect(try JSONValue(text)["code"]?.text == "storeUnavailable")
    #expect(try daemon.get("/targets/a").status == 200, "it is in force")
    disk.end()
    #expect(try eventually(within: .seconds(30)) { try daemon.state().contains("keeping") })
    try daemon.terminate()
    #expect(try fixture.sqlite("SELECT count(*) FROM target") == "1\n")
  }

  @Test("After a loss of power the log is cut, a new epoch begins, and the database is checked", arguments: 0...3)
  func powerLoss(_ part: Int) throws {
    let daemon = try fixture.start()
    let reader = try daemon.events()
    _ = try reader.next()
    // One after the other: changes that are read together are one event.
    var last = StreamEvent?.none
    for mtu in 1301...1340 {
      try fixture.changeMTU([mtu])
      last = try read(reader, until: mtu).last
    }
    daemon.child.kill()
    _ = try daemon.child.wait()
    // A log whose end did not reach the disk.
    var log = stat()
    let path = fixture.data.path + "/reachd.db-wal"
    #expect(unsafe stat(path, &log) == 0)
    #expect(unsafe truncate(path, log.st_size * off_t(part) / 4 + 7) == 0)
    let hasRun = try fixture.setEarlierBoot()
    #expect(hasRun == (part > 0))
    let second = try fixture.start()
    let next = try second.events(after: last?.id)
    #expect(try next.next()?.name == "gap")
    #expect(try next.next()?.id?.prefix(8) != last?.id?.prefix(8))
    // Without the row of a run the store is new.
    #expect(!hasRun || eventually { second.child.errors.contains("the database is intact") }, "\(second.child.errors)")
    try second.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
  }

  @Test("Damage that a loss of power has left is found while the service runs, and no number is used twice")
  func hiddenDamage() throws {
    let configuration = "policy: { allow: ['127.0.0.0/8'] }\n"
    let daemon = try fixture.start(configuration: configuration)
    #expect(try daemon.send("POST", "/targets", #"{"id": "kept", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    daemon.child.kill()
    _ = try daemon.child.wait()
    try fixture.setEarlierBoot()
    // A page that a start does not read.
    _ = try fixture.sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO delivery(webhook, event, at, result, ms) SELECT 'a', 'b', 0, 'delivered', 1 FROM n;
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
    let root = try #require(
      Int(try fixture.sqlite("SELECT rootpage FROM sqlite_schema WHERE name = 'delivery'").filter(\.isNumber)))
    let size = try #require(Int(try fixture.sqlite("PRAGMA page_size").filter(\.isNumber)))
    try fixture.overwrite(at: (root - 1) * size, with: [UInt8](repeating: 0xff, count: size))
    let second = try fixture.start(configuration: configuration)
    let snapshot = try #require(try second.events().next())
    #expect(eventually(within: .seconds(30)) { second.child.errors.contains("set aside") }, "\(second.child.errors)")
    #expect(try eventually(within: .seconds(30)) { try second.state().contains("keeping") })
    #expect(fixture.data.names.contains { $0.hasPrefix("reachd.db.damaged-") })
    let last = try #require(try JSONValue(second.get("/status").text)["id"]?.text)
    try second.terminate()
    let third = try fixture.start(configuration: configuration)
    #expect(try JSONValue(third.get("/status").text)["id"]?.text?.prefix(8) == last.prefix(8))
    #expect(try third.get("/targets/kept").status == 200, "a client's target is salvaged")
    let reader = try third.events(after: last)
    try fixture.changeMTU([1444])
    let number = last.split(separator: "-").last.flatMap { Int($0) }
    #expect(try reader.next()?.number == number.map { $0 + 1 }, "no id has two contents")
    let old = try #require(try third.events(after: snapshot.id).next())
    #expect(old.name == "gap" || old.number == snapshot.number.map { $0 + 1 }, "\(old)")
    try third.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
  }
}
