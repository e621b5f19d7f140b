import Glibc
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Streams")
  struct Streams {
    private func open(_ fixture: Fixture, _ target: String = "/", receiveBuffer: Int32? = nil) throws -> RawClient {
      let client = try RawClient(fixture.address, receiveBuffer: receiveBuffer)
      client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      return client
    }

    private func append(_ log: EventLog, _ id: Int, _ text: String, kind: UInt8 = 0) {
      log.append(id: UInt64(id), kind: kind, bytes: Array(text.utf8))
    }

    @Test("Head and preamble are sent immediately, entries when appended", arguments: HTTPStreamMode.both)
    func firstBytes(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let client = try open(fixture)
      let head = try client.head()
      #expect(head.contains("text/event-stream"))
      #expect(try client.body(until: "\n") == "hello\n")
      for id in 1...50 {
        append(log, id, "event \(id)\n")
        #expect(try client.body(until: "\n") == "event \(id)\n")
      }
      #expect(fixture.server.counters.streams == 1)
    }

    @Test("Each event is one chunk, and the close event precedes the last chunk", arguments: HTTPStreamMode.both)
    func chunks(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let client = try open(fixture)
      #expect(try client.head().contains("Transfer-Encoding: chunked\r\n"))
      #expect(try client.chunk() == Array("hello\n".utf8))
      for id in 1...20 {
        let event = String(repeating: "e", count: id * id) + "\n"
        append(log, id, event)
        #expect(try client.chunk() == Array(event.utf8))
      }
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      #expect(try client.chunk() == Array("bye\n".utf8))
      #expect(try client.chunk().isEmpty)
    }

    @Test("A stream of HTTP/1.0 has no chunks", arguments: HTTPStreamMode.both)
    func oldVersion(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let client = try fixture.client()
      client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
      #expect(!(try client.head().contains("chunked")))
      try client.receive(until: "hello\n")
      append(log, 1, "event\n")
      #expect(try client.receive(until: "\n") == "event\n")
    }

    @Test("Every subscriber receives every entry once, in order", arguments: HTTPStreamMode.both)
    func everyEntry(mode: HTTPStreamMode) throws {
      let log = EventLog(byteCapacity: 4 << 20, entryCapacity: 20_000)
      let fixture = try Fixture(mode, configure: { $0.streamLag = 4 << 20 }, handler: Fixture.follow(log))
      let expected = (1...10_000).map { "event number \($0) of many\n" }.joined()
      let wrong = Tally()
      let ready = Tally()
      let waits = (0..<8).map { _ in
        onThread { [fixture] in
          guard let client = try? fixture.client() else { return wrong.add() }
          client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          guard (try? client.head()) != nil, (try? client.body(until: "hello\n")) == "hello\n" else {
            ready.add()
            return wrong.add()
          }
          ready.add()
          if (try? client.body(until: "number 10000 of many\n")) != expected { wrong.add() }
        }
      }
      #expect(fixture.eventually { _ in ready.value == 8 })
      for id in 1...10_000 { append(log, id, "event number \(id) of many\n") }
      for wait in waits { wait() }
      #expect(wrong.value == 0)
      #expect(fixture.server.counters.streamsLagged == 0)
    }

    @Test("A stream replays history and continues live", arguments: HTTPStreamMode.both)
    func replay(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      for id in 1...500 { append(log, id, String(repeating: "\(id % 10)", count: 1000) + "\n") }
      let client = try open(fixture, "/?after=100")
      try client.head()
      let text = try client.body(until: "\n" + String(repeating: "0", count: 1000) + "\n1")
      #expect(text.hasPrefix("hello\n1"))
      append(log, 501, "live\n")
      try client.body(until: "live\n")
      #expect(fixture.server.counters.streamsLagged == 0)
    }

    @Test("Only the selected kinds are sent", arguments: HTTPStreamMode.both)
    func kinds(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log, kinds: 0b10))
      let client = try open(fixture)
      try client.head()
      try client.body(until: "hello\n")
      for id in 1...100 { append(log, id, "\(id)\n", kind: UInt8(id % 2)) }
      let text = try client.body(until: "99\n")
      #expect(text == stride(from: 1, through: 99, by: 2).map { "\($0)\n" }.joined())
    }

    @Test("An entry bigger than a connection's memory arrives whole", arguments: HTTPStreamMode.both)
    func bigEntry(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(
        mode, handler: Fixture.follow(log, preamble: String(repeating: "p", count: 50_000) + "\n"))
      let client = try open(fixture)
      try client.head()
      #expect(try client.body(until: "p\n").utf8.count == 50_001)
      append(log, 1, String(repeating: "e", count: 100_000) + "\n")
      #expect(try client.body(until: "e\n").utf8.count == 100_001)
    }

    @Test(
      "Heartbeats carry the last id, filtered entries included", arguments: HTTPStreamMode.both)
    func heartbeat(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log, kinds: 1, heartbeat: .milliseconds(50)))
      let client = try open(fixture)
      try client.head()
      try client.body(until: "beat 0\nbeat 0\n")
      append(log, 7, "unwanted\n", kind: 3)
      let text = try client.body(until: "beat 7\n")
      #expect(!text.contains("unwanted"))
    }

    @Test("A stalled reader is disconnected and counted", arguments: HTTPStreamMode.both)
    func slowReader(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, configure: { $0.streamLag = 100_000 }, handler: Fixture.follow(log))
      let slow = try open(fixture, receiveBuffer: 4096)
      let quick = try open(fixture)
      try quick.head()
      #expect(fixture.eventually { $0.streams == 2 })
      let line = String(repeating: "x", count: 9_000)
      var id = 0
      try eventually {
        id += 1
        append(log, id, "\(line)\(id)\n")
        try quick.body(until: "x\(id)\n")
        return fixture.server.counters.streamsLagged == 1
      }
      #expect(fixture.eventually { $0.streamsLagged == 1 && $0.streams == 1 })
      append(log, id + 1, "last\n")
      try quick.body(until: "last\n")
      slow.close()
    }

    @Test("A vanished reader of an idle stream is detected", arguments: HTTPStreamMode.both, [false, true])
    func vanished(mode: HTTPStreamMode, byReset: Bool) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      // libmicrohttpd forgets to clean up while an older connection is idle.
      let bystander = try fixture.client()
      #expect(fixture.eventually { $0.connections == 1 })
      let clients = try (0..<50).map { _ in try open(fixture) }
      for client in clients {
        try client.head()
        try client.body(until: "hello\n")
      }
      #expect(fixture.server.counters.streams == 50)
      for client in clients { if byReset { client.reset() } else { client.close() } }
      #expect(fixture.eventually { $0.streams == 0 && $0.streamsGone == 50 && $0.connections <= 1 })
      #expect(fixture.server.counters.expired == 0)
      bystander.close()
    }

    @Test("A half-closed client receives a proper end", arguments: HTTPStreamMode.both, ["1.1", "1.0"])
    func halfClosed(mode: HTTPStreamMode, version: String) throws {
      let fixture = try Fixture(mode, handler: Fixture.follow(EventLog()))
      let client = try fixture.client()
      client.send("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
      try client.head()
      try client.body(until: "hello\n")
      #expect(fixture.eventually { $0.streams == 1 })
      shutdown(client.descriptor, Int32(SHUT_WR))
      #expect(try client.rest().isEmpty)
      #expect(fixture.eventually { $0.streamsGone == 1 && $0.connections == 0 })
    }

    @Test("An ended HTTP/1.0 stream closes its connection", arguments: HTTPStreamMode.both)
    func oldVersionEnds(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let bystander = try fixture.client()
      #expect(fixture.eventually { $0.connections == 1 })
      let client = try fixture.client()
      client.send("GET / HTTP/1.0\r\n\r\n")
      #expect(try client.head().contains("Connection: close"))
      try client.body(until: "hello\n")
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      #expect(try client.rest() == "bye\n")
      #expect(fixture.server.counters.expired == 0)
      bystander.close()
    }

    @Test(
      "After the close event one more request is served", arguments: HTTPStreamMode.both)
    func afterwards(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode) { $0.path == "/e" ? Fixture.follow(log)($0) : Fixture.echo($0) }
      let client = try open(fixture, "/e")
      let head = try client.head()
      try client.body(until: "hello\n")
      fixture.server.endStreams()
      #expect(try client.rest().isEmpty)
      for _ in 0..<3 {
        let again = client.isClosed || head.contains("Connection: close") ? try fixture.client() : client
        again.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try again.head().contains("Connection: close"))
        #expect(try again.receiveAll().hasPrefix("GET /x"))
      }
    }

    @Test(
      "Streams above the limit are answered 503, connection kept",
      arguments: HTTPStreamMode.both)
    func limit(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, configure: { $0.streamLimit = 1 }) {
        $0.path == "/e" ? Fixture.follow(log)($0) : Fixture.echo($0)
      }
      let first = try open(fixture, "/e")
      try first.head()
      try first.body(until: "hello\n")
      let second = try open(fixture, "/e")
      let response = try second.response()
      #expect(response.status == 503)
      #expect(response.header("Retry-After") == "2")
      second.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try second.response().status == 200)
    }

    @Test("A finite stream does not count towards the stream limit", arguments: HTTPStreamMode.both)
    func answersInPieces(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, configure: { $0.streamLimit = 1 }) { request in
        if request.path == "/e" { return Fixture.follow(log)(request) }
        let pieces = EventLog()
        let stream = EventStreamResponse(
          feeds: [.init(log: pieces, cursor: pieces.end)], heartbeat: .init(bytes: [0x20]), endsAfter: 1)
        return .now(HTTPResponse(body: .stream(stream)))
      }
      for _ in 0..<2 { try open(fixture, "/pieces").head() }
      let stream = try open(fixture, "/e")
      #expect(try stream.head().hasPrefix("HTTP/1.1 200 "))
    }

    @Test(
      "Closing sends pending entries, close event and proper end",
      arguments: HTTPStreamMode.both)
    func closeEvent(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let clients = try (0..<5).map { _ in try open(fixture) }
      for client in clients {
        try client.head()
        try client.body(until: "hello\n")
      }
      append(log, 1, "pending\n")
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      for client in clients {
        #expect(try client.rest() == "pending\nbye\n")
      }
      #expect(fixture.eventually { $0.streams == 0 })
      #expect(try open(fixture).response().status == 503)
      // A browser's EventSource never reconnects after an error.
      let browser = try fixture.client()
      browser.send("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      let response = try browser.response()
      #expect(response.status == 200 && response.header("Content-Type") == "text/event-stream")
      #expect(response.header("Connection") == "close")
      #expect(String(decoding: response.body, as: UTF8.self) == "bye\n")
    }
  }
}
