import EventLoop
import EventStreams
import Glibc
import Locks
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Connections that are ended for memory")
  struct Displacement {
    static let room = 10

    /// A server with memory for some connections; `/wait` waits, `/later` is never answered, `/long` has 7,000 bytes.
    func fixture(
      _ mode: HTTPStreamMode = .takeover, room: Int = room, _ log: EventLog = EventLog(),
      configure: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) throws -> Fixture {
      let promises = Locked<[HTTPPromise]>([])
      return try Fixture(
        mode,
        configure: {
          $0.memory = .init(room * Limits.connectionBytes + 4_096)
          configure(&$0)
        },
        handler: { request in
          switch request.path {
          case "/wait":
            return .wait(
              HTTPWait(limit: .seconds(600)) {
                HTTPResponse(status: 304)
              } begin: { promise in
                promises.withLock { $0.append(promise) }
                return {}
              })
          case "/later": return .later { promise in promises.withLock { $0.append(promise) } }
          case "/events": return Fixture.follow(log)(request)
          case "/long": return .now(HTTPResponse(body: .bytes([UInt8](repeating: 0x61, count: 7_000))))
          default: return Fixture.echo(request)
          }
        })
    }

    /// A new client is served.
    func expectService(_ fixture: Fixture) throws {
      let client = try fixture.client()
      client.send("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(try client.response().status == 200)
      _ = try client.receiveAll()
    }

    @Test(
      "Many clients with unfinished requests leave memory for a new one",
      arguments: [
        ("", false), ("GET /", false), ("GET / HTTP/1.1\r\nHost: a\r\nX: a", true),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc", true),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost:", true),
        ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", false), ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", false),
      ])
    func unfinishedRequests(start: String, isInformed: Bool) throws {
      let fixture = try fixture()
      var clients: [RawClient] = []
      for number in 0..<10 * Self.room {
        let client = try fixture.client()
        client.send(start)
        clients.append(client)
        if number % Self.room == 0 { try expectService(fixture) }
      }
      #expect(fixture.eventually { $0.accepted == 11 * Self.room && $0.connections <= Self.room })
      let counters = fixture.server.counters
      #expect(counters.displaced >= 9 * Self.room && counters.memory <= counters.memoryLimit)
      try expectService(fixture)
      // The oldest one is closed, with a response if its client has sent a request line.
      let answer = try clients[0].receiveAll()
      #expect(answer.contains("HTTP/1.1 408 ") == isInformed, "\(answer)")
    }

    @Test("Long polls that wait for the longest time end as at their timeout")
    func longPolls() throws {
      let fixture = try fixture()
      var clients: [RawClient] = []
      for number in 0..<10 * Self.room {
        let client = try fixture.client()
        client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        clients.append(client)
        // One after the other: a request that is not read yet is an unfinished one.
        let served = number / Self.room
        #expect(fixture.eventually { $0.requests == number + 1 + served })
        if (number + 1) % Self.room == 0 { try expectService(fixture) }
      }
      for client in clients[..<8] {
        let response = try client.response()
        #expect(response.status == 304 && response.header("Connection") == "close")
        #expect(try client.receiveAll().isEmpty)
      }
      #expect(fixture.eventually { $0.connections <= Self.room && $0.waiting == $0.connections })
      #expect(fixture.server.counters.waiting >= Self.room / 2)
      try expectService(fixture)
    }

    @Test("What a long poll retains is counted")
    func retainedBytes() throws {
      let wait = HTTPWait(limit: .seconds(600), retainedBytes: 100_000) {
        HTTPResponse(status: 304)
      } begin: { promise in
        { withExtendedLifetime(promise) {} }
      }
      let fixture = try Fixture(configure: { $0.memory = .init(1_000_000) }) { _ in .wait(wait.map { $0 }) }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(fixture.eventually { $0.memory > 100_000 })
      client.close()
      #expect(fixture.eventually { $0.connections == 0 && $0.memory == 0 })
    }

    @Test("Streams stay", arguments: HTTPStreamMode.both)
    func streams(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try fixture(mode, log)
      let stream = try fixture.client()
      stream.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
      try stream.head()
      try stream.body(until: "hello\n")
      let clients = try (0..<10 * Self.room).map { _ in
        let client = try fixture.client()
        client.send("GET / HTTP/1.1\r\n")
        return client
      }
      #expect(fixture.eventually { $0.displaced >= 9 * Self.room })
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      try stream.body(until: "one\n")
      clients.forEach { $0.close() }
    }

    @Test("Streams whose clients do not read are ended when their sockets use too much")
    func stalledStreams() throws {
      let log = EventLog()
      let fixture = try Fixture(
        .takeover, configure: { $0.memory = .init(16 * Limits.stalledStreamBytes) }, handler: Fixture.follow(log))
      func stream(receiveBuffer: Int32?) throws -> RawClient {
        let client = try RawClient(fixture.address, receiveBuffer: receiveBuffer)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.head()
        try client.body(until: "hello\n")
        return client
      }
      let reading = try stream(receiveBuffer: nil)
      let stalled = try (0..<Limits.auditedConnections).map { _ in try stream(receiveBuffer: 2_048) }
      let frame = [UInt8](repeating: 0x61, count: 10_000)
      for id in 1...20 { log.append(id: UInt64(id), kind: 0, bytes: frame) }
      log.append(id: 21, kind: 0, bytes: Array("one\n".utf8))
      try reading.body(until: "one\n")
      // A quarter of the memory is for the sockets of four of them.
      #expect(
        fixture.eventually { $0.streams == 5 && $0.streamsLagged == stalled.count - 4 }, "\(fixture.server.counters)")
      log.append(id: 22, kind: 0, bytes: Array("two\n".utf8))
      try reading.body(until: "two\n")
      stalled.forEach { $0.close() }
      #expect(fixture.eventually { $0.streams == 1 })
    }

    @Test("New connections are refused when all memory is used by requests that are being answered")
    func refusal() throws {
      let fixture = try fixture()
      let clients = try (0..<Self.room).map { _ in
        let client = try fixture.client()
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        return client
      }
      #expect(fixture.eventually { $0.requests == Self.room })
      let late = try fixture.client()
      #expect(try late.receiveAll().hasPrefix("HTTP/1.1 503 "))
      clients[0].close()
      #expect(fixture.eventually { $0.connections < Self.room })
      try expectService(fixture)
    }

    @Test("A promise can become a long poll")
    func promisedWait() throws {
      let changes = Locked<[HTTPPromise]>([])
      let fixture = try Fixture.serving { request in
        .later { promise in
          let wait = HTTPWait(limit: request.path == "/short" ? .milliseconds(1) : .seconds(600)) {
            HTTPResponse(status: 304)
          } begin: { change in
            changes.withLock { $0.append(change) }
            return {}
          }
          promise.map { response in
            var response = response
            response.headers["X-Mapped"] = "yes"
            return response
          }.fulfil(waiting: wait)
        }
      }
      let client = try fixture.client()
      client.send("GET /short HTTP/1.1\r\nHost: a\r\n\r\n")
      let expired = try client.response()
      #expect(expired.status == 304 && expired.header("X-Mapped") == "yes")
      client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(fixture.eventually { $0.waiting == 1 })
      changes.withLock(\.self).last?.fulfil(HTTPResponse(body: .bytes(Array("news".utf8))))
      let news = try client.response()
      #expect(news.text == "news" && news.header("X-Mapped") == "yes")
      #expect(fixture.eventually { $0.waiting == 0 })
    }

    @Test("The limit follows what else uses memory")
    func changingLimit() throws {
      let available = Locked(20 * Limits.connectionBytes)
      let fixture = try Fixture(configure: {
        $0.memory = .init(guaranteed: 4 * Limits.connectionBytes) { available.withLock(\.self) }
      })
      let clients = try (0..<16).map { _ in try fixture.client() }
      #expect(fixture.eventually { $0.connections == 16 })
      available.withLock { $0 = 0 }
      #expect(fixture.eventually { $0.connections <= 4 && $0.memoryLimit == 4 * Limits.connectionBytes })
      try expectService(fixture)
      clients.forEach { $0.close() }
    }
  }
}
