import Foundation
import TestSupport
import Testing

/// A client of the event stream over many restarts, with all that it has received.
private final class Listener {
  private(set) var received: [StreamEvent] = []
  private var lastID: String?
  private var reader: EventReader?

  /// The number of the last event.
  var lastNumber: Int? { lastID?.split(separator: "-").last.flatMap { Int($0) } }

  /// Opens the stream after the last event; the first time it begins with a snapshot.
  func connect(to daemon: StoreDaemon) throws {
    let reader = try daemon.events(after: lastID)
    self.reader = reader
    guard lastID == nil else { return }
    let snapshot = try #require(try reader.next())
    #expect(snapshot.name == "snapshot")
    let id: String = try #require(snapshot.id)
    lastID = id
  }

  /// Reads one event.
  @discardableResult
  func read() throws -> StreamEvent {
    let event = try #require(try reader?.next())
    try take(event)
    return event
  }

  /// Reads what a killed program had sent, which is still in the socket.
  func drain() throws {
    while let event = try? reader?.next() { try take(event) }
    reader = nil
  }

  private func take(_ event: StreamEvent) throws {
    #expect(event.name != "gap" && event.name != "snapshot", "\(event)")
    let id: String = try #require(event.id)
    lastID = id
    received.append(event)
  }
}

@Suite("Kills with a data directory", .needsNamespaces)
struct KillTests {
  /// More in `make test-store`.
  private static let kills = Program.environmentVariable("REACHD_STORE_KILLS").flatMap { Int($0) } ?? 6
  /// Interfaces whose addresses change: changes of one of them that are read together are one event.
  private static let interfaces = 5

  private let fixture: StoreFixture
  private let prompt = Listener()
  /// Comes back after many restarts, when memory does not have its events any more.
  private let late = Listener()

  init() throws {
    fixture = try StoreFixture()
    let links = (0..<Self.interfaces).flatMap { number in
      ["link add e\(number) type veth peer name f\(number)", "link set e\(number) up"]
    }
    try fixture.namespace.ip(batch: links)
  }

  @Test("SIGKILL during changes loses no event, repeats none and causes no gap")
  func kill() throws {
    for round in 1...Self.kills {
      let daemon = try fixture.start()
      try prompt.connect(to: daemon)
      let isBack = round == 1 || round == Self.kills / 2
      if isBack { try connectLate(to: daemon) }
      let writer = try change()
      for _ in 0..<5 + round % 20 * 3 { try prompt.read() }
      daemon.child.kill()
      try prompt.drain()
      if isBack { try late.drain() }
      // The rest of the changes happens while no program runs.
      try writer.wait()
    }
    let daemon = try fixture.start()
    try prompt.connect(to: daemon)
    try fixture.changeMTU([2000])
    while try prompt.read().data["interface"]?["mtu"]?.integer != 2000 {}
    try connectLate(to: daemon)
    try daemon.terminate()
    try compare()
  }

  /// Connects the late listener, and reads until it knows what the other one does.
  private func connectLate(to daemon: StoreDaemon) throws {
    try late.connect(to: daemon)
    while try #require(late.lastNumber) < #require(prompt.lastNumber) { try late.read() }
  }

  /// Adds and deletes addresses, 500 a second.
  private func change() throws -> Child {
    let script = """
      i=0; while [ $i -lt 20 ]; do
        for action in add del; do
          for n in \((0..<Self.interfaces).map(String.init).joined(separator: " ")); do
            echo "addr $action 10.9.$n.$i/32 dev e$n"
          done
          sleep 0.01
        done
        i=$((i + 1))
      done | ip -batch -
      """
    return try fixture.namespace.spawn("/bin/sh", ["-c", script])
  }

  /// Both listeners have received the stored events, and nothing else.
  private func compare() throws {
    let stored = try fixture.sqlite("SELECT CAST(body AS TEXT) FROM event ORDER BY seq").split(separator: "\n")
    let ids = stored.filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    let contents = try stored.filter { $0.hasPrefix("data: ") }.map { try JSONValue($0.dropFirst(6)) }
    let first = try #require(prompt.received.first?.id.flatMap { ids.firstIndex(of: $0) })
    for listener in [prompt, late] {
      #expect(listener.received.map(\.id) == ids[first...].map(Optional.some), "each event once, in order")
      #expect(listener.received.map(\.data) == Array(contents[first...]), "no id has two contents")
    }
    #expect(ids.count > Self.kills * 5)
    #expect(Set(ids.map { $0.prefix(8) }).count == 1)
    #expect(try fixture.sqlite("SELECT max(seq) - min(seq) + 1 - count(*) FROM event") == "0\n")
    #expect(try fixture.sqlite("SELECT count(*) FROM hole") == "0\n")
    #expect(try fixture.sqlite("PRAGMA integrity_check") == "ok\n")
  }
}
