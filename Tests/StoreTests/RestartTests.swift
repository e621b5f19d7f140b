import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A restart with a data directory", .needsNamespaces)
struct RestartTests {
  private let fixture: StoreFixture

  /// More in `make test-store`.
  private static let kills = Program.environmentVariable("REACHD_STORE_KILLS").flatMap { Int($0) } ?? 6

  init() throws { fixture = try StoreFixture() }

  @Test("SIGKILL during changes loses no event, repeats none and causes no gap")
  func kill() throws {
    var numbers: [Int] = []
    var first = 0
    var lastID: String?
    var epochs: Set<String> = []
    var mtu = 1000
    for round in 1...Self.kills {
      let daemon = try fixture.start()
      let reader = try daemon.events(after: lastID)
      // More changes than the reader waits for: the program is killed in the middle of them.
      mtu = mtu > 50_000 ? 1000 : mtu
      let changes = mtu..<mtu + 200
      mtu = changes.upperBound
      // One process for each change: those of one batch would be read together.
      let loop = "for mtu in $(seq \(changes.lowerBound) \(changes.upperBound - 1)); do ip link set d0 mtu $mtu; done"
      let writer = try fixture.namespace.spawn("/bin/sh", ["-c", loop])
      if lastID == nil {
        let snapshot = try #require(try reader.next())
        #expect(snapshot.name == "snapshot")
        lastID = snapshot.id
        first = try #require(snapshot.number)
      }
      for _ in 0..<5 + round % 20 * 3 { try take(reader.next(), &numbers, &lastID, &epochs) }
      daemon.child.kill()
      // What the program had sent is still in the socket.
      while let event = try? reader.next() { try take(event, &numbers, &lastID, &epochs) }
      try writer.wait()
    }
    let daemon = try fixture.start()
    let reader = try daemon.events(after: lastID)
    // Changes while no program ran are events, too.
    #expect(try fixture.mtu(daemon) == mtu - 1)
    try fixture.changeMTU([2000])
    var last = JSONValue.null
    while last["interface"]?["mtu"]?.integer != 2000 {
      let event = try #require(try reader.next())
      last = event.data
      try take(event, &numbers, &lastID, &epochs)
    }
    #expect(numbers == Array(first + 1...first + numbers.count), "each number once, in order")
    #expect(epochs.count == 1)
    try daemon.terminate()
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
    #expect(try fixture.sqlite("SELECT max(seq) - min(seq) + 1 - count(*) FROM event") == "0\n")
    #expect(try fixture.sqlite("SELECT count(*) FROM hole") == "0\n")
  }

  private func take(
    _ event: StreamEvent?, _ numbers: inout [Int], _ lastID: inout String?, _ epochs: inout Set<String>
  ) throws {
    let event = try #require(event)
    #expect(event.name != "gap" && event.name != "snapshot", "\(event)")
    let id = try #require(event.id)
    numbers.append(try #require(event.number))
    epochs.insert(String(id.prefix(8)))
    lastID = id
  }

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
