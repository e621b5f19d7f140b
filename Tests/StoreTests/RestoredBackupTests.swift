import Glibc
import TestSupport
import Testing

@Suite("A database that is restored from a backup", .needsNamespaces)
struct RestoredBackupTests {
  private let fixture: StoreFixture
  private let backup: TemporaryDirectory

  init() throws {
    fixture = try StoreFixture()
    backup = try TemporaryDirectory()
  }

  /// How the database goes back to an earlier state.
  enum Restoration: String, CaseIterable {
    /// A copy by SQLite while the service runs, written over the file.
    case copyOfRunning
    /// A copy of the stopped service, which then ran again, written over the file.
    case copyOfStopped
    /// The same, after a restart of the machine.
    case copyOfStoppedAfterReboot
    /// The service is killed after the copy.
    case copyOfRunningAfterKill
    /// A copy takes the place of the file.
    case renamedCopy
    /// All files, the lock file too, are written over the present ones.
    case wholeDirectory
    /// All files of a running service are written over the present ones.
    case wholeDirectoryOfRunning
    /// The directory does not have its lock file any more.
    case copyWithoutLock
    /// The lock file is empty.
    case copyWithEmptyLock
    /// The file is unpacked from an archive in place of the present one.
    case archive

    var isOfStopped: Bool {
      switch self {
      case .copyOfRunning, .copyOfRunningAfterKill, .wholeDirectoryOfRunning: false
      default: true
      }
    }
  }

  private func shell(_ script: String) throws {
    try fixture.namespace.run("/bin/sh", ["-euc", script])
  }

  /// The events in memory by id.
  private func events(_ daemon: StoreDaemon) throws -> [String: JSONValue] {
    let list = try JSONValue(daemon.get("/events", ["Accept": "application/json"]).text).elements ?? []
    return Dictionary(list.compactMap { event in event["id"]?.text.map { ($0, event) } }) { first, _ in first }
  }

  private func copy(_ restoration: Restoration) throws {
    switch restoration {
    case .copyOfRunning, .copyOfRunningAfterKill:
      try shell("sqlite3 \(fixture.data.path)/reachd.db '.backup \(backup.path)/reachd.db'")
    case .archive:
      try fixture.emptyLog()
      try shell("tar -C \(fixture.data.path) -cf \(backup.path)/data.tar .")
    default:
      if restoration.isOfStopped { try fixture.emptyLog() }
      try shell("cp -a \(fixture.data.path)/. \(backup.path)/")
    }
  }

  private func restore(_ restoration: Restoration) throws {
    let (data, log) = (fixture.data.path, "\(fixture.data.path)/reachd.db-wal \(fixture.data.path)/reachd.db-shm")
    let inPlace = "cat \(backup.path)/reachd.db > \(data)/reachd.db"
    switch restoration {
    case .copyOfRunning, .copyOfStopped, .copyOfRunningAfterKill: try shell("rm -f \(log); \(inPlace)")
    case .copyOfStoppedAfterReboot: try shell("rm -f \(log) \(fixture.runtime.path)/*; \(inPlace)")
    case .renamedCopy: try shell("rm -f \(log); mv \(backup.path)/reachd.db \(data)/reachd.db")
    case .wholeDirectory, .wholeDirectoryOfRunning:
      try shell(
        "rm -f \(log); cd \(backup.path); for file in reachd.db* lock; do cat $file > \(data)/$file; done")
    case .copyWithoutLock: try shell("rm -f \(log) \(data)/lock; \(inPlace)")
    case .copyWithEmptyLock: try shell("rm -f \(log); : > \(data)/lock; \(inPlace)")
    case .archive: try shell("rm -f \(log); tar -C \(data) -xf \(backup.path)/data.tar")
    }
  }

  @Test("No id has two contents, and a client of the lost time receives a gap", arguments: Restoration.allCases)
  func restored(_ restoration: Restoration) throws {
    let first = try fixture.start()
    try fixture.change(first, 1301...1310)
    var lost = first
    if restoration.isOfStopped {
      try first.terminate()
      try copy(restoration)
      lost = try fixture.start()
    } else {
      try copy(restoration)
    }
    try fixture.change(lost, 1311...1330)
    let before = try events(lost)
    let last = try #require(try JSONValue(lost.get("/status").text)["id"]?.text)
    if restoration == .copyOfRunningAfterKill {
      lost.child.kill()
      _ = try lost.child.wait()
    } else {
      try lost.terminate()
    }
    try restore(restoration)
    let second = try fixture.start()
    try fixture.change(second, 1401...1450)
    let after = try events(second)
    let twice = after.filter { id, event in before[id].map { $0 != event } ?? false }
    #expect(twice.isEmpty, "\(twice.count) ids with two contents: \(twice.keys.sorted().prefix(3))")
    #expect(after.count >= 30)
    let reader = try second.events(after: last)
    #expect(try reader.next()?.name == "gap", "\(second.child.errors)")
    #expect(try reader.next()?.id?.prefix(8) != last.prefix(8))
    try second.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
  }

  /// What happens to the files of a stopped service without taking anything back.
  enum Handling: String, CaseIterable {
    case none, pageDeleted, checkpoint, newModes, touched, backup, storeCheck, startThatFails, killedDuringStart
  }

  private func handle(_ handling: Handling) throws {
    let data = fixture.data.path
    switch handling {
    case .none: break
    case .pageDeleted: try shell("rm -f \(fixture.runtime.path)/*")
    case .checkpoint: try fixture.emptyLog()
    case .newModes: try shell("chmod 0640 \(data)/*; chmod 0600 \(data)/*; chown -R $(id -u) \(data)")
    case .touched: try shell("touch \(data)/*")
    case .backup:
      try shell("sqlite3 \(data)/reachd.db '.backup \(backup.path)/copy.db'; cp -a \(data)/. \(backup.path)/")
    case .storeCheck: try fixture.namespace.run(StoreDaemon.program, ["store", "check", "--data", data])
    case .startThatFails:
      let child = try StoreDaemon.launch(fixture, data, nil, [:], ["--listen", "192.0.2.1:80"])
      #expect(try child.wait() != .exited(0))
    case .killedDuringStart:
      for milliseconds in stride(from: 0, to: 60, by: 4) {
        let child = try StoreDaemon.launch(fixture, data)
        pause(.milliseconds(milliseconds), because: "each kill meets another step of the start")
        child.kill()
        _ = try child.wait()
        // Two kills in a row would set the database aside.
        try fixture.start().terminate()
      }
    }
  }

  @Test("The ids continue when nothing was taken back", arguments: Handling.allCases)
  func continues(_ handling: Handling) throws {
    let first = try fixture.start()
    try fixture.change(first, 1301...1305)
    let last = try #require(try JSONValue(first.get("/status").text)["id"]?.text)
    try first.terminate()
    try handle(handling)
    let second = try fixture.start()
    let reader = try second.events(after: last)
    try fixture.changeMTU([1400])
    let next = try #require(try reader.next())
    #expect(next.id?.prefix(8) == last.prefix(8), "\(second.child.errors)")
    #expect(next.number == last.split(separator: "-").last.flatMap { Int($0) }.map { $0 + 1 })
    try second.terminate()
  }
  @Test(
    "A directory whose database lost everything is reported",
    arguments: ["rm reachd.db reachd.db-wal", ": >reachd.db", "rm reachd.db-*; : >reachd.db", "rm reachd.db*"])
  func lostDatabase(_ loss: String) throws {
    let first = try fixture.start()
    try first.terminate()
    try shell("cd \(fixture.data.path); \(loss)")
    let second = try fixture.start()
    #expect(
      eventually { second.child.errors.contains("the database of the last run is missing") }, "\(second.child.errors)")
    try second.terminate()
    let third = try fixture.start()
    #expect(eventually { third.child.errors.contains("end=clean") }, "\(third.child.errors)")
    try third.terminate()
  }
}
