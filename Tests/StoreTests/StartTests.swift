import Glibc
import TestSupport
import Testing

@Suite("Starts that end while they open the database", .needsNamespaces, .serialized)
struct StartTests {
  private let starts: UnfinishedStarts
  private var fixture: StoreFixture { starts.fixture }

  init() throws { starts = try UnfinishedStarts() }

  @Test("The third start after two kills has a new database, keeps the old one, and says so until that is acknowledged")
  func thirdStart() throws {
    let hooks =
      "INSERT INTO webhook(id, epoch, cursor, attempt, next, state) VALUES('ops', '6f1c2a90', 7, 2, NULL, '{}')"
    try starts.register(3)
    _ = try fixture.sqlite(hooks)
    let first = try starts.start()
    #expect(try first.send("POST", "/targets/t1/pause").status == 200)
    let snapshot = try #require(try first.events().next())
    first.child.kill()
    _ = try first.child.wait()
    let before = (database: try starts.bytes("reachd.db"), log: try starts.bytes("reachd.db-wal"))
    for count in 1...2 { try starts.kill(at: count) }

    let third = try starts.start()
    #expect(starts.marker == nil)
    let name = try #require(starts.aside.first)
    #expect(name.hasPrefix("reachd.db.set-aside-") && starts.aside.count == 1)
    #expect(try starts.bytes(name) == before.database)
    #expect(try starts.bytes(name + "-wal").starts(with: before.log))
    for name in starts.names where name != "reachd.yaml" {
      var status = stat()
      #expect(unsafe stat("\(fixture.data.path)/\(name)", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    let reader = try third.events(after: snapshot.id)
    #expect(try reader.next()?.name == "gap")
    #expect(try reader.next()?.id?.prefix(8) != snapshot.id?.prefix(8))
    #expect(try third.get("/targets/t0").status == 200)
    #expect(try JSONValue(third.get("/targets/t1").text)["state"]?.text == "paused")
    #expect(
      eventually { third.child.errors.contains("the database was set aside as=\(name)") }, "\(third.child.errors)")
    try third.terminate()
    #expect(try fixture.sqlite("SELECT count(*) FROM target") == "3\n")
    #expect(try fixture.sqlite("SELECT id, epoch, cursor FROM webhook") == "ops|6f1c2a90|7\n")

    let fourth = try starts.start()
    let warning = try starts.warning(fourth)
    #expect(
      warning.contains("\(name): two starts in a row ended") && warning.contains("kept 3 targets and 1 positions"))
    #expect(try starts.metric(fourth) == "1")
    #expect(try acknowledge().contains(name))
    #expect(try eventually { try starts.metric(fourth) == "0" })
    #expect(try starts.warning(fourth) == "[+] store ok")
    #expect(try acknowledge() == "nothing to acknowledge\n")
    #expect(starts.aside == [name], "an acknowledged database is kept")
    try fourth.terminate()
  }

  private func acknowledge(_ path: String? = nil, end: Child.End = .exited(0)) throws -> String {
    let child = try fixture.namespace.spawn(
      StoreDaemon.program, ["store", "acknowledge", "--data", path ?? fixture.data.path],
      environment: Program.bareEnvironment)
    #expect(try child.wait() == end, "\(child.errors)")
    return child.output + child.errors
  }

  @Test("An acknowledgement without a service, and of a directory that does not exist")
  func acknowledgeOffline() throws {
    try starts.register()
    for count in 1...2 { try starts.kill(at: count) }
    try starts.start().terminate()
    #expect(try acknowledge().contains("reachd.db.set-aside-"))
    let next = try starts.start()
    #expect(try starts.metric(next) == "0")
    try next.terminate()
    #expect(try acknowledge(fixture.data.path + "/none", end: .exited(78)).contains("no such directory"))
  }

  enum Start: CaseIterable {
    /// Ended by SIGKILL while it opens the database.
    case killed
    /// Ended by SIGTERM while it opens the database, and by SIGKILL after SIGTERM while it begins its run.
    case terminated, terminatedLater
    /// Ready, and ended by SIGKILL or SIGTERM.
    case killedLater, stopped
    /// Ends by itself with 78 or 69 after the database was opened.
    case invalid, addressInUse
  }

  @Test(
    "Only two killed starts in a row set the database aside",
    arguments: Start.allCases.filter { $0 != .killed }.map { [.killed, $0, .killed] } + [
      [.killed, .killed, .terminated], [.killed, .stopped], [.killedLater, .killedLater, .killedLater],
      [.terminated, .terminated, .terminated],
    ])
  func orders(_ order: [Start]) throws {
    try starts.register()
    var unfinished = 0
    for start in order {
      try run(start, unfinished + 1)
      unfinished = start == .killed ? unfinished + 1 : 0
      #expect(starts.marker == (unfinished == 0 ? nil : unfinished), "\(start)")
    }
    let last = try starts.start()
    #expect(starts.aside.isEmpty, "\(last.child.errors)")
    #expect(try last.get("/targets/t0").status == 200)
    try last.terminate()
  }

  private func run(_ start: Start, _ count: Int) throws {
    switch start {
    case .killed: try starts.kill(at: count)
    case .terminated:
      try starts.poison("hang")
      let child = try starts.launch()
      #expect(eventually { starts.marker == count })
      child.kill(SIGTERM)
      #expect(try child.wait() == .exited(0), "\(child.errors)")
      starts.disk.end()
    case .terminatedLater:
      try starts.disk.begin("hold")
      let child = try starts.launch()
      #expect(eventually { starts.marker == count })
      child.kill(SIGTERM)
      #expect(eventually { starts.marker == nil })
      child.kill()
      // It may not have begun its run yet.
      #expect(try [.killed(SIGKILL), .exited(0)].contains(child.wait()), "\(child.errors)")
      starts.disk.end()
    case .killedLater, .stopped:
      let daemon = try starts.start()
      #expect(starts.marker == nil, "a service that is ready has ended its start")
      guard start == .killedLater else { return try daemon.terminate() }
      daemon.child.kill()
      _ = try daemon.child.wait()
    case .invalid:
      let limit = starts.policy + "limits: { targets: 1 }\ntargets: [{ id: own, target: 'tcp://127.0.0.1:9' }]\n"
      let child = try starts.launch(limit)
      #expect(try child.wait() == .exited(78), "\(child.errors)")
    case .addressInUse:
      let other = try fixture.namespace.spawn(
        StoreDaemon.program, ["serve", "--listen", "127.0.0.1:18080"], environment: Program.bareEnvironment)
      #expect(eventually { other.errors.contains("listening") }, "\(other.errors)")
      let child = try starts.launch(nil, ["--listen", "127.0.0.1:18080"])
      #expect(try child.wait() == .exited(69), "\(child.errors)")
      other.kill()
    }
  }

  @Test("A second process does not count, and does not end the count of the first")
  func secondProcess() throws {
    try starts.register()
    try starts.disk.begin("hold")
    let first = try starts.launch()
    #expect(eventually { starts.marker == 1 })
    let second = try starts.launch()
    #expect(try second.wait() == .exited(69), "\(second.errors)")
    #expect(starts.marker == 1)
    starts.disk.end()
    #expect(eventually { first.errors.contains("listening") }, "\(first.errors)")
    #expect(eventually { starts.marker == nil })
    first.kill(SIGTERM)
    #expect(try first.wait() == .exited(0))
  }

  @Test("Starts with a new database that are killed, too, lead to an empty one, and then to none")
  func furtherKills() throws {
    let secret = try starts.disk.control.write("whsec_" + String(repeating: "MDAw", count: 10), as: "secret")
    let hooks = "webhooks: [{ id: ops, url: 'http://127.0.0.1:9/', insecure: true, secretFile: \(secret) }]\n"
    let configuration = starts.policy + hooks
    try starts.register(2)
    for count in [1, 2] { try starts.kill(at: count, configuration) }
    // After the rows were read, a kill counts as one more step.
    try starts.kill(at: 4, configuration)
    #expect(starts.aside.count == 1)
    try starts.kill(at: 5, configuration)
    #expect(starts.aside.count == 2)
    let last = try starts.start(configuration)
    #expect(starts.aside.count == 2 && starts.marker == nil)
    #expect(try last.state().contains("detached"))
    #expect(try starts.warning(last).contains("it is not opened"))
    #expect(try last.get("/history").status == 503)
    let reader = try last.events()
    _ = try reader.next()
    try fixture.changeMTU([1301])
    #expect(try reader.next()?.data["interface"]?["mtu"]?.integer == 1301)
    try last.terminate()
    // The next one opens the database again.
    let next = try starts.start(configuration)
    #expect(try next.state().contains("keeping"))
    try next.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
  }

  @Test("SIGTERM while the opening waits for the disk ends the process, and a slow one is reported to the manager")
  func slowOpening() throws {
    try starts.register(20)
    // A path: abstract names belong to a network namespace.
    let address = "\(starts.disk.control.path)/notify"
    let manager = try NotifySocket(address)
    try starts.disk.begin("slow 200")
    let child = try StoreDaemon.launch(
      fixture, fixture.data.path, starts.policy,
      starts.disk.environment(fixture).merging(["NOTIFY_SOCKET": address]) { $1 })
    let extend = "EXTEND_TIMEOUT_USEC=30000000\nSTATUS=Opening the data directory."
    #expect(manager.next() == extend, "\(child.errors)")
    #expect(manager.next() == extend, "\(child.errors)")
    starts.disk.end()
    var message = manager.next()
    while message == extend { message = manager.next() }
    #expect(message == "READY=1\nSTATUS=Serving.")
    child.kill(SIGTERM)
    #expect(try child.wait() == .exited(0))
  }
}
