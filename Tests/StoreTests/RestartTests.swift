import Glibc
import TestSupport
import Testing

@Suite("A restart with a data directory", .needsNamespaces)
struct RestartTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  @Test("A restart is no change: nothing is published, and ids continue")
  func silence() throws {
    let first = try fixture.start()
    try fixture.changeMTU([1400])
    #expect(try eventually { try fixture.mtu(first) == 1400 })
    let status = try JSONValue(first.get("/status").text)
    let tag = try first.get("/status").head.fields["etag"]
    try first.terminate()

    let second = try fixture.start()
    let again = try second.get("/status")
    let document = try JSONValue(again.text)
    for member in ["status", "reason", "since", "id"] { #expect(document[member] == status[member], "\(member)") }
    #expect(again.head.fields["etag"] != tag, "a tag describes a document of one process")
    let reader = try second.events(after: status["id"]?.text)
    try fixture.changeMTU([1401])
    let next = try #require(try reader.next())
    #expect(next.data["interface"]?["mtu"]?.integer == 1401)
    let number = status["id"]?.text?.split(separator: "-").last.flatMap { Int($0) }
    #expect(next.number == number.map { $0 + 1 })
    try second.terminate()
  }

  @Test("A change between two runs is an event with the cause restart")
  func changeBetweenRuns() throws {
    let first = try fixture.start()
    let snapshot = try #require(try first.events().next())
    try first.terminate()
    try fixture.changeMTU([1234])
    let second = try fixture.start()
    let event = try #require(try second.events(after: snapshot.id).next())
    #expect(event.name == "interface")
    #expect(event.data["interface"]?["mtu"]?.integer == 1234)
    #expect(event.data["cause"]?.texts == ["restart"])
    try second.terminate()
  }

  @Test("The files are readable by their owner only")
  func modes() throws {
    let daemon = try fixture.start()
    try fixture.changeMTU([1300])
    #expect(try eventually { try fixture.mtu(daemon) == 1300 })
    for name in fixture.data.names {
      var status = stat()
      #expect(unsafe stat("\(fixture.data.path)/\(name)", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    #expect(fixture.data.names == ["lock", "reachd.db", "reachd.db-shm", "reachd.db-wal"])
    try daemon.terminate()
  }

  @Test("Without its page a killed run begins a new epoch, and the reader gets a gap")
  func missingPage() throws {
    let first = try fixture.start()
    let snapshot = try #require(try first.events().next())
    first.child.kill()
    _ = try first.child.wait()
    for name in fixture.runtime.names { _ = unsafe unlink("\(fixture.runtime.path)/\(name)") }
    let second = try fixture.start()
    let reader = try second.events(after: snapshot.id)
    #expect(try reader.next()?.name == "gap")
    let next = try #require(try reader.next())
    #expect(next.name == "snapshot")
    #expect(next.id?.prefix(8) != snapshot.id?.prefix(8))
    try second.terminate()
  }
}
