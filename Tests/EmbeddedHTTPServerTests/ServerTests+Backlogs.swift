import Glibc
import Locks
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Stream backlogs")
  struct Backlogs {
    private func open(_ fixture: Fixture, _ target: String, receiveBuffer: Int32? = nil) throws -> RawClient {
      let client = try RawClient(fixture.address, receiveBuffer: receiveBuffer)
      client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.head()
      try client.body(until: "hello\n")
      return client
    }

    /// Follows two logs; `?k=` is the mask of the first, `?t=` a topic of the second.
    private func both(_ log: EventLog, _ side: EventLog, _ attachment: (any AnyObject & Sendable)? = nil) -> HTTPHandler
    {
      { request in
        let kinds = request.query.first { $0.name == "k" }.flatMap { UInt64($0.value) } ?? .max
        func labels(_ name: String) -> [UInt64]? {
          let found = request.query.filter { $0.name == name }.compactMap { UInt64($0.value) }
          return found.isEmpty ? nil : found
        }
        let selection = EventLog.Selection(topics: labels("t"), sources: labels("s"), groups: labels("g"))
        var feeds = [EventStreamResponse.Feed(log: log, cursor: log.end, selection: .init(kinds: kinds))]
        if selection != EventLog.Selection() {
          feeds.append(.init(log: side, cursor: side.end, selection: selection))
        }
        let stream = EventStreamResponse(
          feeds: feeds, preamble: Array("hello\n".utf8), heartbeat: .init(bytes: []), attachment: attachment)
        return .now(HTTPResponse(body: .stream(stream)))
      }
    }

    @Test("A slow reader receives the selected backlog once", arguments: HTTPStreamMode.both)
    func comesBack(mode: HTTPStreamMode) throws {
      let log = EventLog(byteCapacity: 8 << 20)
      let fixture = try Fixture(mode, configure: { $0.streamLag = 8 << 20 }, handler: both(log, EventLog()))
      // Odd sizes, so that sockets fill up in the middle of entries; two of the slow ones share a filter. A buffer of 4 KiB
      // is too small for the bookkeeping of one segment: the kernel drops it, and sends it again after up to a minute.
      let slow = try ["/?k=1", "/?k=1", "/?k=2", "/"].map { try open(fixture, $0, receiveBuffer: 32_768) }
      let quick = try open(fixture, "/?k=3")
      var expected = ["", "", "", ""]
      for id in 1...400 {
        let text = String(repeating: "x", count: id * 7 % 1999) + "\(id)\n"
        log.append(id: UInt64(id), kind: UInt8(id % 2), bytes: Array(text.utf8))
        for (index, mask) in [1, 1, 2, 3].enumerated() where mask & (1 << (id % 2)) != 0 { expected[index] += text }
        if id % 50 == 0 { try quick.body(until: "x\(id)\n") }
      }
      log.append(id: 401, kind: 0, bytes: Array("end\n".utf8))
      log.append(id: 401, kind: 1, bytes: Array("end\n".utf8))
      for (index, client) in slow.enumerated() {
        #expect(try client.body(until: "end\n") == expected[index] + "end\n")
      }
      #expect(try slow[3].body(until: "end\n") == "end\n")
      // Back at the pace of all, it goes on live.
      log.append(id: 402, kind: 0, bytes: Array("live\n".utf8))
      #expect(try slow[0].body(until: "live\n") == "live\n")
      #expect(fixture.server.counters.streamsLagged == 0)
    }

    @Test("Entries of a source or a group reach only their subscribers", arguments: HTTPStreamMode.both)
    func labels(mode: HTTPStreamMode) throws {
      let side = EventLog()
      let fixture = try Fixture(mode, handler: both(EventLog(), side))
      let queries = ["s=5", "s=6&s=5", "g=8", "g=9&s=6", "t=1&g=8"]
      let clients = try queries.map { try open(fixture, "/?" + $0) }
      let all: [EventLog.Labels] = [
        .init(topic: 1, source: 5, group: 8), .init(topic: 2, source: 6, group: 9), .init(topic: 1),
        .init(topic: 2, source: 7, group: 8),
      ]
      for round in 1...20 {
        for (index, labels) in all.enumerated() {
          side.append(id: 0, kind: 5, labels: labels, bytes: Array("\(index).\(round)\n".utf8))
        }
      }
      side.append(id: 0, kind: 5, bytes: Array("end\n".utf8))
      for (client, indices) in zip(clients, [[0, 2], [0, 1, 2], [0, 2, 3], [1, 2], [0, 2]]) {
        let expected = (1...20).flatMap { round in indices.map { "\($0).\(round)\n" } }.joined() + "end\n"
        #expect(try client.body(until: "end\n") == expected)
      }
    }

    @Test(
      "Topic entries reach only their subscribers",
      arguments: HTTPStreamMode.both)
    func topics(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let side = EventLog()
      let fixture = try Fixture(mode, handler: both(log, side))
      let clients = try ["/?t=1&t=2", "/?t=2", "/?t=1&t=2", "/"].map { try open(fixture, $0) }
      for round in 1...20 {
        for topic in UInt64(1)...3 {
          side.append(id: 0, kind: 5, labels: .init(topic: topic), bytes: Array("t\(topic).\(round)\n".utf8))
        }
        // What comes by which log is ordered within each only.
        if round % 5 == 0 { log.append(id: UInt64(round), kind: 0, bytes: Array("all\(round)\n".utf8)) }
      }
      log.append(id: 21, kind: 0, bytes: Array("end\n".utf8))
      for (index, topics) in [[1, 2], [2], [1, 2], []].enumerated() {
        var lines: [String] = []
        while lines.count < 20 * topics.count + 5 {
          lines.append(try clients[index].body(until: "\n").trimmed)
        }
        #expect(lines.filter { !$0.hasPrefix("t") } == ["all5", "all10", "all15", "all20", "end"])
        #expect(lines.filter { $0.hasPrefix("t") } == (1...20).flatMap { round in topics.map { "t\($0).\(round)" } })
      }
    }

    /// Counts its ends.
    private final class Kept: Sendable {
      let ends: Tally
      init(_ ends: Tally) { self.ends = ends }
      deinit { ends.add() }
    }

    @Test("A stream's attachment is released at its end", arguments: HTTPStreamMode.both)
    func attachment(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let ends = Tally()
      let fixture = try Fixture(mode) { both(log, EventLog(), Kept(ends))($0) }
      let clients = try (0..<5).map { _ in try open(fixture, "/") }
      #expect(ends.value == 0)
      clients[0].close()
      #expect(fixture.eventually { _ in ends.value == 1 })
      fixture.server.endStreams()
      #expect(fixture.eventually { _ in ends.value == 5 })
    }

    @Test("Client data on a stream is discarded", arguments: HTTPStreamMode.both)
    func chatter(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: both(log, EventLog()))
      let client = try open(fixture, "/")
      for id in 1...20 {
        client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 10))
        log.append(id: UInt64(id), kind: 0, bytes: Array("event \(id)\n".utf8))
        #expect(try client.body(until: "\n") == "event \(id)\n")
      }
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      try client.body(until: "bye\n")
    }

    @Test("Body bytes are counted without heads", arguments: HTTPStreamMode.both)
    func bytes(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: both(log, EventLog()))
      var expected = 0
      let clients = try (0..<4).map { _ in
        let client = try fixture.client()
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.head()
        expected += try client.body(until: "hello\n").utf8.count
        return client
      }
      // A chunk of a stream that is taken over has two line breaks and a size.
      let framing = mode == .takeover ? 5 : 0
      #expect(fixture.eventually { $0.bodyBytes == expected + 4 * framing })
      log.append(id: 1, kind: 0, bytes: Array("0123456789".utf8))
      for client in clients { try client.body(until: "9") }
      #expect(fixture.eventually { $0.bodyBytes == expected + 4 * framing + 4 * (10 + framing) })
      #expect(log.occupancy.bytes == 15)
    }
  }

  @Suite("Socket takeover")
  struct Takeover {
    @Test("The installed libmicrohttpd supports takeover")
    func proof() throws {
      #expect(MHDTakeoverSelfTest.passed)
      let log = EventLog()
      for mode in [HTTPStreamMode.auto, .takeover] {
        let fixture = try Fixture(mode, handler: Fixture.follow(log))
        let client = try fixture.client()
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.head()
        // libmicrohttpd would keep a connection whose body has a last chunk.
        #expect(head.contains("Connection: close"))
        try client.body(until: "hello\n")
        #expect(fixture.server.counters.connections == 1)
      }
    }

    @Test("A delayed ACK does not fill the send buffer")
    func segments() throws {
      let fixture = try Fixture(.takeover, handler: Fixture.follow(EventLog()))
      let client = try fixture.client()
      var segment: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      unsafe getsockopt(client.descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, &size)
      // The loopback interface by itself has 64 KiB, as much as the kernel makes of the whole buffer.
      #expect(segment > 0 && segment <= Limits.streamSendBuffer / 2)
    }

    @Test("The stream head protects the server's own fields")
    func head() {
      let response = HTTPResponse(
        headers: ["A": "b", "content-length": "5", "DATE": "x", "Connection": "keep-alive", "Bad": "a\r\nC: d"])
      let head = MHDRawResponse.head(of: response)
      let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
      #expect(lines.count == 5)
      #expect(lines.first == "HTTP/1.1 200 OK")
      #expect(lines.dropFirst(2) == ["Connection: close", "A: b", ""])
      let date = lines[1].wholeMatch(
        of: /Date: (Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] 2\d\d\d \d\d:\d\d:\d\d GMT/)
      #expect(date != nil, "\(lines[1])")
    }

    @Test("Taken streams count towards the per-address limit")
    func connectionsPerAddress() throws {
      let log = EventLog()
      let fixture = try Fixture(
        .takeover, configure: { $0.connectionsPerAddress = 1 }, handler: Fixture.follow(log))
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.head()
      try client.body(until: "hello\n")
      #expect(try fixture.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").hasPrefix("HTTP/1.1 429"))
      client.close()
      #expect(
        fixture.eventually { _ in
          guard let next = try? fixture.client() else { return false }
          next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          return (try? next.head().hasPrefix("HTTP/1.1 200")) == true
        })
    }

    @Test("Taken streams count towards the connection limit")
    func limit() throws {
      let log = EventLog()
      let fixture = try Fixture(.takeover, configure: { $0.connectionLimit = 3 }, handler: Fixture.follow(log))
      let clients = try (0..<3).map { _ in try fixture.client() }
      for client in clients {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.head()
        try client.body(until: "hello\n")
      }
      let refused = try fixture.client()
      refused.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try refused.response().status == 503)
      clients[0].close()
      #expect(fixture.eventually { $0.connections == 2 })
      let next = try fixture.client()
      next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try next.head().hasPrefix("HTTP/1.1 200"))
    }
  }
}
