import Glibc
import TestSupport
import Testing

@Suite("Setting a database aside", .needsNamespaces, .serialized)
struct SetAsideTests {
  private let starts: UnfinishedStarts
  private var fixture: StoreFixture { starts.fixture }

  init() throws { starts = try UnfinishedStarts() }

  @Test(
    "A database that cannot be renamed is not opened, and is set aside as soon as that is possible",
    arguments: ["names", "nolink\nnames"])
  func noRename(_ fault: String) throws {
    try starts.register()
    try starts.poison("crash")
    for _ in 1...2 { try starts.crash() }
    let poison = try String(decoding: Self.content("\(starts.disk.control.path)/fault"), as: UTF8.self)
    try starts.disk.begin("\(fault)\n\(poison)")
    let third = try starts.start()
    #expect(try starts.warning(third).contains("cannot be renamed"))
    #expect(starts.aside.isEmpty)
    #expect(try third.get("/history").status == 503, "no query reads it")
    let reader = try third.events()
    let snapshot = try #require(try reader.next())
    try fixture.changeMTU([1301])
    #expect(try reader.next()?.data["interface"]?["mtu"]?.integer == 1301)
    #expect(try starts.metric(third) == "0")
    try starts.disk.begin(poison)
    #expect(try eventually { try third.state().contains("keeping") }, "\(third.child.errors)")
    #expect(starts.aside.count == 1)
    #expect(try starts.metric(third) == "1")
    try third.terminate()
    let fourth = try starts.start()
    #expect(try fourth.events(after: snapshot.id).next()?.data["interface"]?["mtu"]?.integer == 1301)
    try fourth.terminate()
  }

  private static func content(_ path: String) throws -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TestError("\(path): \(errno)") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return Array(bytes.prefix(max(0, count)))
  }

  @Test("A database that gets its name back is used again, with new ids")
  func renamedBack() throws {
    try starts.register()
    for count in 1...2 { try starts.kill(at: count) }
    let third = try starts.start()
    let snapshot = try #require(try third.events().next())
    try third.terminate()
    let name = try #require(starts.aside.first)
    for suffix in ["", "-wal", "-shm"] {
      let path = "\(fixture.data.path)/reachd.db\(suffix)"
      #expect(unsafe unlink(path) == 0 && rename("\(fixture.data.path)/\(name)\(suffix)", path) == 0)
    }
    let fourth = try starts.start()
    #expect(starts.aside.isEmpty)
    #expect(try fourth.events(after: snapshot.id).next()?.name == "gap")
    let history = try JSONValue(fourth.get("/history?types=service").text)["history"]?.elements?.count ?? 0
    #expect(history > 2, "that of the first run")
    #expect(try fourth.get("/targets/t0").status == 200)
    try fourth.terminate()
  }

  @Test("A file system without hard links is used, too")
  func noHardLinks() throws {
    try starts.register()
    for count in 1...2 { try starts.kill(at: count) }
    try starts.disk.begin("nolink")
    let third = try starts.start()
    #expect(starts.aside.count == 1)
    #expect(try third.get("/targets/t0").status == 200)
    try third.terminate()
  }

  @Test("A kill between two names of the files loses none of them", arguments: ["/reachd.db", "/reachd.db-wal"])
  func killedInBetween(_ name: String) throws {
    try starts.register()
    let before = try starts.bytes("reachd.db-wal")
    for count in 1...2 { try starts.kill(at: count) }
    try starts.disk.begin("kill \(name)")
    let third = try starts.launch()
    #expect(try third.wait() == .killed(SIGKILL), "\(third.errors)")
    starts.disk.end()
    let fourth = try starts.start()
    let logs = starts.names.filter { $0.hasPrefix("reachd.db.set-aside-") && $0.hasSuffix("-wal") }
    #expect(try logs.contains { try starts.bytes($0).starts(with: before) }, "\(starts.names)")
    try fourth.terminate()
  }

  @Test("Ten databases are kept, and an eleventh is left as it is until one of them is removed")
  func tooMany() throws {
    try starts.register()
    for number in 1...10 { _ = try fixture.data.write("kept", as: "reachd.db.damaged-\(number)") }
    for count in 1...2 { try starts.kill(at: count) }
    let third = try starts.start()
    #expect(try starts.warning(third).contains("10 databases that were set aside"))
    #expect(starts.aside.count == 10)
    #expect(unsafe unlink("\(fixture.data.path)/reachd.db.damaged-1") == 0)
    #expect(try eventually { try third.state().contains("keeping") }, "\(third.child.errors)")
    #expect(starts.aside.count == 10)
    for number in 2...10 { #expect(try starts.bytes("reachd.db.damaged-\(number)") == Array("kept".utf8)) }
    try third.terminate()
  }

  @Test("A name that is in use gets a number, and its file is not changed")
  func nameInUse() throws {
    try starts.register()
    for count in 1...2 { try starts.kill(at: count) }
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    for second in now.tv_sec...now.tv_sec + 90 {
      _ = try fixture.data.write("in use", as: "reachd.db.set-aside-\(second)-wal")
    }
    let third = try starts.start()
    let name = try #require(starts.aside.first)
    #expect(name.hasSuffix("-2"), "\(name)")
    #expect(try starts.bytes(name.dropLast(2) + "-wal") == Array("in use".utf8))
    try third.terminate()
  }

  @Test("Damage that SQLite reports is acknowledged like a database that ended the start")
  func damage() throws {
    try starts.register()
    try fixture.emptyLog()
    _ = try fixture.data.write(String(repeating: "damaged ", count: 4096), as: "reachd.db")
    let next = try starts.start()
    #expect(starts.aside.contains { $0.hasPrefix("reachd.db.damaged-") })
    #expect(try starts.metric(next) == "1")
    #expect(try starts.warning(next).contains("file is not a database"))
    try next.terminate()
  }

  enum Entry: CaseIterable {
    case directory, link, dangling, pipe, empty, huge, text, hardLink
  }

  @Test("Anything in place of the marker lets the service start", arguments: Entry.allCases)
  func marker(_ entry: Entry) throws {
    try starts.register()
    let path = "\(fixture.data.path)/starting"
    let other = try starts.disk.control.write("precious", as: "other")
    switch entry {
    case .directory: #expect(unsafe mkdir(path, 0o700) == 0)
    case .link: #expect(unsafe symlink(other, path) == 0)
    case .dangling: #expect(unsafe symlink("/none/none", path) == 0)
    case .pipe: #expect(unsafe mkfifo(path, 0o600) == 0)
    case .empty: _ = try fixture.data.write("", as: "starting")
    case .huge:
      _ = try fixture.data.write("", as: "starting")
      #expect(unsafe truncate(path, 1 << 40) == 0)
    case .text: _ = try fixture.data.write("7", as: "starting")
    case .hardLink: #expect(unsafe link("\(fixture.data.path)/reachd.db-wal", path) == 0)
    }
    let log = try starts.bytes("reachd.db-wal")
    let next = try starts.start()
    #expect(starts.aside.isEmpty, "\(next.child.errors)")
    #expect(try next.get("/targets/t0").status == 200)
    #expect(try starts.bytes("reachd.db-wal").starts(with: log))
    #expect(try Self.content(other) == Array("precious".utf8))
    #expect((starts.marker == nil) == (entry != .directory))
    try next.terminate()
  }

  @Test("A file system that became read-only does not prevent the start")
  func readOnly() throws {
    try starts.register()
    let path = fixture.data.path
    let mount = "mount --bind \(path) \(path) && mount -o remount,bind,ro \(path)"
    let daemon = try fixture.start(
      configuration: starts.policy,
      launcher: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\(mount) && exec \"$@\"", "sh"])
    #expect(try daemon.state().contains("detached"))
    try daemon.terminate()
    try starts.start().terminate()
  }

  @Test("A full disk does not prevent the start, and its starts are counted")
  func fullDisk() throws {
    let path = fixture.data.path
    // The database, and a file that has the rest of the space.
    let script = """
      mount -t tmpfs -o size=2m,mode=700 tmpfs \(path) && touch \(path)/starting && \
      truncate -s 2 \(path)/starting && head -c 2000000 /dev/zero > \(path)/filler; exec "$@"
      """
    let daemon = try fixture.start(launcher: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh"])
    #expect(try daemon.state().contains("detached"))
    #expect(unsafe unlink("/proc/\(daemon.child.id)/root\(path)/filler") == 0)
    #expect(try eventually(within: .seconds(30)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    try daemon.terminate()
  }
}
