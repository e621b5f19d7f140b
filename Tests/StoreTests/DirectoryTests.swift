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

  @Test("A linked directory is used as systemd passes it, and store check finds it")
  func linkedDirectory() throws {
    // DynamicUser=yes makes /var/lib/reachd a link to private/reachd.
    let link = fixture.runtime.path + "/reachd"
    #expect(unsafe symlink(fixture.data.path, link) == 0)
    func serve(_ arguments: [String] = []) throws -> (child: Child, epoch: Substring?) {
      let child = try fixture.namespace.spawnService(
        StoreDaemon.program, ["serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s"] + arguments,
        environment: Program.bareEnvironment.merging(
          ["STATE_DIRECTORY": link, "RUNTIME_DIRECTORY": fixture.runtime.path]) { $1 })
      #expect(eventually { child.errors.contains("epoch=") || child.poll() != nil }, "\(child.errors)")
      return (child, child.errors.split(separator: " ").first { $0.hasPrefix("epoch=") })
    }
    let (first, epoch) = try serve()
    #expect(epoch != nil, "\(first.errors)")
    // The same directory at its own path.
    #expect(try end(fixture.data.path).end == .exited(69))
    first.kill(SIGTERM)
    #expect(try first.wait() == .exited(0))
    for path in [link, link + "/"] {
      let (next, again) = try serve(["--data", path])
      #expect(again == epoch, "\(next.errors)")
      next.kill(SIGTERM)
      #expect(try next.wait() == .exited(0))
      let check = try fixture.namespace.spawn(
        StoreDaemon.program, ["store", "check", "--data", path], environment: [:])
      #expect(try check.wait() == .exited(0), "\(check.errors)")
      #expect(check.output == "ok\n")
    }
  }

  @Test("A database that is a symbolic link ends with 78, and the error names its target")
  func linkedDatabase() throws {
    let target = fixture.runtime.path + "/other.db"
    #expect(unsafe symlink(target, fixture.data.path + "/reachd.db") == 0)
    let (end, errors) = try end(fixture.data.path)
    #expect(end == .exited(78))
    #expect(errors.contains("\(fixture.data.path)/reachd.db is a symbolic link to \(target)"), "\(errors)")
    #expect(unsafe access(target, F_OK) != 0, "it was not created through the link")
    let check = try fixture.namespace.spawn(
      StoreDaemon.program, ["store", "check", "--data", fixture.data.path], environment: [:])
    #expect(try check.wait() == .exited(78))
    #expect(check.errors.contains("is a symbolic link to \(target)"), "\(check.errors)")
  }

  @Test("A directory that cannot be written ends with 78, and says so")
  func readOnly() throws {
    // Root may write everywhere but to a file system that is mounted for reading.
    let mount =
      "mount --bind \(fixture.data.path) \(fixture.data.path) && mount -o remount,bind,ro \(fixture.data.path)"
    let child = try StoreDaemon.launch(
      fixture, fixture.data.path, nil, [:], [],
      ["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\(mount) && exec \"$@\"", "sh"])
    #expect(try child.wait(within: .seconds(60)) == .exited(78), "\(child.errors)")
    #expect(child.errors.contains("Read-only file system"), "\(child.errors)")
    #expect(fixture.data.names.isEmpty)
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

  enum Damage: CaseIterable {
    case flip, zero, cut, replace
  }

  private func damage(_ kind: Damage) throws {
    try fixture.emptyLog()
    for name in ["reachd.db-wal", "reachd.db-shm"] { _ = unsafe unlink("\(fixture.data.path)/\(name)") }
    let path = "\(fixture.data.path)/reachd.db"
    switch kind {
    // The first byte of a page is its type. The root of the tables' definitions begins behind the header.
    case .flip: try fixture.overwrite(at: 100, with: [0x0d ^ 0xff])
    case .zero: try fixture.overwrite(at: 0, with: [UInt8](repeating: 0, count: 12 * 1024))
    case .cut: #expect(unsafe truncate(path, 20 * 1024 + 100) == 0)
    case .replace: _ = try fixture.data.write(String(repeating: "damaged ", count: 4096), as: "reachd.db")
    }
  }

  @Test("A damaged database is set aside and kept, and a new epoch begins", arguments: Damage.allCases)
  func damaged(_ kind: Damage) throws {
    let first = try fixture.start()
    let snapshot = try #require(try first.events().next())
    try first.terminate()
    try damage(kind)
    let second = try fixture.start()
    #expect(fixture.data.names.contains { $0.hasPrefix("reachd.db.damaged-") })
    let reader = try second.events(after: snapshot.id)
    #expect(try reader.next()?.name == "gap")
    #expect(eventually { second.child.errors.contains("set aside") })
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

  @Test("A directory that does not exist is not sound, and is not created")
  func checkNothing() throws {
    let path = fixture.data.path + "/nothing"
    let child = try fixture.namespace.spawn(
      StoreDaemon.program, ["store", "check", "--data", path], environment: [:])
    #expect(try child.wait() == .exited(78))
    #expect(child.errors.contains("\(path): there is no such directory"), "\(child.errors)")
    #expect(unsafe access(path, F_OK) != 0)
  }

  @Test("A service that cannot bind its address does not count as killed")
  func unboundAddress() throws {
    try fixture.start().terminate()
    let other = try StoreFixture()
    let listener = try fixture.namespace.spawn(
      StoreDaemon.program, ["serve", "--listen", "127.0.0.1:18080", "--data", other.data.path],
      environment: Program.bareEnvironment)
    #expect(eventually { listener.errors.contains("listening") }, "\(listener.errors)")
    let refused = try StoreDaemon.launch(fixture, fixture.data.path, nil, [:], ["--listen", "127.0.0.1:18080"])
    #expect(try refused.wait() == .exited(69), "\(refused.errors)")
    listener.kill()
    let daemon = try fixture.start()
    #expect(!daemon.child.errors.contains("end=killed"), "\(daemon.child.errors)")
    #expect(try !daemon.get("/history?types=service").text.contains("unclean"))
    try daemon.terminate()
  }

  @Test("Without a directory there is one notice, and no file")
  func memoryOnly() throws {
    let child = try fixture.namespace.spawn(
      "/usr/bin/setpriv", ["--pdeathsig", "KILL", StoreDaemon.program, "serve", "--listen", "127.0.0.1:0"],
      environment: Program.bareEnvironment)
    eventually { child.errors.contains("memory only") }
    #expect(child.errors.split(separator: "\n").filter { $0.contains("memory only") }.count == 1)
    child.kill(15)
    try child.wait()
  }
}
