import Glibc
import TestSupport
import Testing

/// The event stream under real changes: every event once, for every reader.
@Suite(.needsNamespaces) struct StreamTests {
  let pair: VethPair
  let daemon: DaemonUnderTest

  init() throws {
    pair = try VethPair()
    try pair.waitForLinkLocal()
    daemon = try DaemonUnderTest(in: pair.client, settle: "0s")
  }

  /// The last of ``churn()``; its event ends the reading.
  static let lastMTU = 65_000

  /// Some hundred changes of all three types, in a process that runs on by itself.
  ///
  /// Each is a command of its own: a batch would be over before the program has read twice.
  private func churn() throws -> Child {
    let commands = (0..<100).flatMap { number in
      ["link set lo mtu \(60_000 + number)"]
        + (number.isMultiple(of: 3) ? ["route replace default via 10.9.0.\(number + 3) dev c0"] : [])
        + (number.isMultiple(of: 10) ? ["route del default"] : [])
    }
    let script = (commands + ["link set lo mtu \(Self.lastMTU)"]).map { "ip \($0)\n" }.joined()
    return try pair.client.spawn("/bin/sh", ["-e"], input: script)
  }

  private func isLast(_ event: StreamEvent) -> Bool {
    event.name == "interface" && event.data["interface"]?["mtu"]?.integer == Self.lastMTU
  }

  private func next(_ reader: EventReader) throws -> StreamEvent {
    try #require(try reader.next(), "the stream ended")
  }

  private func untilLast(_ reader: EventReader) throws -> [StreamEvent] {
    var events: [StreamEvent] = []
    repeat { events.append(try next(reader)) } while !isLast(events[events.count - 1])
    // What the same reading of the kernel said besides comes after it.
    let last = try daemon.get("/status").json["id"]?.text
    while events.last?.id != last { events.append(try next(reader)) }
    return events
  }

  @Test func reconnectingSubscriberReceivesEveryEventOnce() throws {
    var reader = try daemon.events()
    let snapshot = try next(reader)
    var status = try StatusReplica(snapshot)
    let child = try churn()
    var events: [StreamEvent] = []
    var connections = 1
    var last: String?
    while events.isEmpty || events.last?.id != last {
      if events.count % 7 == 6 {
        // What the old connection still holds is thrown away with it.
        reader = try daemon.events(after: reader.lastID)
        connections += 1
      }
      let event = try next(reader)
      // It throws when the number is not the next one.
      try status.take(event)
      events.append(event)
      if isLast(event) { last = try daemon.get("/status").json["id"]?.text }
    }
    #expect(try child.wait() == .exited(0))
    #expect(events.count > 20 && connections > 3)
    #expect(Set(events.map(\.name)) == ["status", "path", "interface"])
    #expect(status.agrees(with: try daemon.get("/status").json))

    // From the beginning once more, in one piece and by the other way to name an id.
    let replayed = try untilLast(try daemon.events("?lastEventId=\(snapshot.id ?? "")"))
    #expect(replayed.map(\.id) == events.map(\.id) && replayed.map(\.data) == events.map(\.data))
    let header = try daemon.events("?lastEventId=\(snapshot.id ?? "")", after: events[4].id)
    #expect(try next(header).id == events[5].id, "the header wins")
    let list = try daemon.get("/events?lastEventId=\(snapshot.id ?? "")", ["Accept": "application/json"])
    #expect(list.head.fields["content-type"] == "application/json")
    #expect(try list.json == .array(events.map(\.data)))
  }

  @Test func everySubscriberReceivesTheSameEvents() throws {
    let early = try [daemon.events(), daemon.events()]
    let child = try churn()
    // These come in the middle of it; where they begin, their snapshot stands for what was before.
    let late = try (0..<8).map { _ in try daemon.events() }
    let told = try (early + late).map { reader in
      (snapshot: try next(reader), events: try untilLast(reader))
    }
    #expect(try child.wait() == .exited(0))
    let document = try daemon.get("/status").json
    for (snapshot, events) in told {
      var status = try StatusReplica(snapshot)
      for event in events { try status.take(event) }
      #expect(status.agrees(with: document))
      let tail = told[0].events.suffix(events.count)
      #expect(events.map(\.id) == tail.map(\.id) && events.map(\.data) == tail.map(\.data))
    }
    #expect(told[0].events.map(\.id) == told[1].events.map(\.id))
  }

  @Test func idOfAnotherEpochYieldsGapAndSnapshot() throws {
    let id = try #require(try next(try daemon.events()).id)
    let epoch = id.prefix(8)
    let foreign = epoch == "0123abcd" ? "0123abce" : "0123abcd"
    for known in ["\(foreign)-1", "\(epoch)-999999", "\(epoch)-", "\(epoch)-+1", "\(epoch)--1", "1", "garbage", "💥"] {
      let reader = try daemon.events(after: known)
      let gap = try next(reader)
      #expect(gap.name == "gap" && gap.id == nil && gap.data["from"]?.text == known)
      #expect(gap.data["oldest"]?.text == "\(epoch)-1")
      #expect(reader.retry == 3000)
      let snapshot = try next(reader)
      #expect(snapshot.name == "snapshot" && snapshot.id == id)
      let list = try daemon.get("/events", ["Accept": "application/json", "Last-Event-ID": known]).json
      #expect(list[0]?["type"] == "gap" && list[0]?["from"]?.text == known)
    }
  }

  @Test func filteredStreamCarriesItsTypesOnly() throws {
    let all = try daemon.events()
    let statuses = try daemon.events("?types=status")
    let both = try daemon.events("?types=path,status")
    for reader in [all, statuses, both] { #expect(try next(reader).name == "snapshot") }
    let child = try churn()
    let events = try untilLast(all)
    #expect(try child.wait() == .exited(0))
    for (reader, names) in [(statuses, ["status"]), (both, ["status", "path"])] {
      for event in events where names.contains(event.name) {
        let heard = try next(reader)
        #expect(heard.id == event.id && heard.data == event.data)
      }
    }
    let first = try #require(events.first)
    let replay = try daemon.get(
      "/events?types=status&lastEventId=\(first.id ?? "")", ["Accept": "application/json"])
    #expect(try replay.json == .array(events.dropFirst().filter { $0.name == "status" }.map(\.data)))
    #expect(try daemon.get("/events?types=heartbeat").status == 400)
  }

  @Test func firstEventIsTheFirstVerdict() throws {
    let list = try daemon.get("/events", ["Accept": "application/json"]).json
    let first = try #require(list[0])
    #expect(first["type"] == "status" && first["initial"] == true && first["id"]?.text?.hasSuffix("-1") == true)
    #expect(first["from"]?["status"] == "unknown" && first["to"]?["status"] == "notReachable")
  }

  @Test func stoppedServiceSendsACloseEvent() throws {
    let daemon = try DaemonUnderTest(in: pair.client, drainDelay: "3s")
    let reader = try daemon.events()
    #expect(try next(reader).name == "snapshot")
    daemon.child.kill(SIGTERM)
    // An orchestrator must see it before the door is closed.
    #expect(try eventually { try daemon.get("/readyz").status == 503 })
    #expect(try daemon.get("/livez").status == 200)
    #expect(try daemon.get("/readyz?verbose").text.contains("[-] draining"))
    // Until then the service goes on.
    try pair.client.ip("route add default via 10.9.0.1 dev c0")
    #expect(try next(reader).name == "status")
    let closeEvent = try next(reader)
    #expect(closeEvent.name == "bye" && closeEvent.id == nil && reader.retry == 3000)
    #expect(try reader.next() == nil)
    #expect(try daemon.child.wait() == .exited(0))
    #expect(throws: TestError.self) { try daemon.get("/livez") }
  }
}
