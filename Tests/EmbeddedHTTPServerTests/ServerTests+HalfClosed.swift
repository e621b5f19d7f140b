import EventLoop
import Glibc
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  /// What `nc -N` and `socat -` do: ask, close their side, read on.
  @Suite("Half-closed connections")
  struct HalfClosed {
    private let shelf = Promises.Shelf<HTTPPromise>()
    private let log = EventLog()

    private func fixture() throws -> Fixture {
      try Fixture.serving { [shelf, log] request in
        switch request.path {
        case "/later": return .later { shelf.put($0) }
        case "/wait":
          return .wait(
            HTTPWait(limit: .seconds(60)) {
              HTTPResponse(status: 304)
            } begin: {
              shelf.put($0)
              return {}
            })
        default:
          let stream = EventStreamResponse(
            feeds: [.init(log: log, cursor: log.end)], heartbeat: .init(bytes: [0x0a]), endsAfter: 2)
          return .now(HTTPResponse(body: .stream(stream)))
        }
      }
    }

    private func ask(_ fixture: Fixture, _ path: String, version: String = "1.1") throws -> RawClient {
      let client = try fixture.client()
      client.send("GET \(path) HTTP/\(version)\r\nHost: a\r\n\r\n")
      shutdown(client.descriptor, Int32(SHUT_WR))
      return client
    }

    private func promise() throws -> HTTPPromise {
      try #require(shelf.wait())
    }

    @Test("Promises and long polls are answered", arguments: ["/later", "/wait"])
    func answered(path: String) throws {
      let fixture = try fixture()
      let client = try ask(fixture, path)
      let promise = try promise()
      // Whether it still reads was asked.
      #expect(try client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      promise.fulfil(HTTPResponse(body: .bytes([UInt8](repeating: 97, count: 300_000))))
      #expect(try client.response().body.count == 300_000)
      #expect(try client.receiveAll().isEmpty)
      #expect(fixture.eventually { $0.connections == 0 })
    }

    /// Whether the end is seen with the request or after it, is a matter of microseconds.
    @Test("A FIN right after the request is detected", arguments: [1, 3])
    func ended(pipelined: Int) throws {
      let fixture = try Fixture(configure: { $0.inactivity = .seconds(3600) })
      let request = String(repeating: "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", count: pipelined)
      for _ in 0..<1000 {
        let client = try fixture.client()
        client.send(request)
        shutdown(client.descriptor, Int32(SHUT_WR))
        for _ in 0..<pipelined { #expect(try client.response().text.hasPrefix("GET /a")) }
        #expect(try client.receiveAll().isEmpty)
      }
    }

    @Test("A quick response has no interim response")
    func quick() throws {
      let fixture = try fixture()
      let client = try ask(fixture, "/later")
      try promise().fulfil(HTTPResponse(status: 201))
      #expect(try client.response().status == 201)
    }

    /// Then the library's epoll set tells of the client's end before the answer is there.
    @Test(
      "A half-closed client works beside an idle one",
      arguments: [("1.0", "/later"), ("1.1", "/later"), ("1.1", "/wait")])
    func beside(version: String, path: String) throws {
      let fixture = try fixture()
      let idle = try ask(fixture, "/later")
      try promise().fulfil(HTTPResponse(status: 201))
      #expect(try idle.response().status == 201)
      let other = try fixture.client()
      other.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
      try promise().fulfil(HTTPResponse(status: 201))
      #expect(try other.response().status == 201)
      for _ in 0..<20 {
        let client = try ask(fixture, path, version: version)
        try promise().fulfil(HTTPResponse(status: 202, body: .bytes(Array("here".utf8))))
        let answer = try client.receiveAll()
        #expect(answer.contains(" 202 ") && answer.hasSuffix("\r\n\r\nhere"))
      }
      #expect(fixture.eventually { $0.connections == 1 && $0.bodyBytes == 80 })
      withExtendedLifetime(other) {}
    }

    @Test("HTTP/1.0 gets its response without an interim response")
    func oldVersion() throws {
      let fixture = try fixture()
      let client = try ask(fixture, "/later", version: "1.0")
      let promise = try promise()
      pause(Limits.halfClosed * 2, because: "an interim response would be sent within this time")
      #expect(fixture.server.counters.connections == 1)
      promise.fulfil(HTTPResponse(status: 201))
      #expect(try client.response().status == 201)
    }

    @Test("A finite stream completes", arguments: ["1.1", "1.0"])
    func stream(version: String) throws {
      let fixture = try fixture()
      let client = try ask(fixture, "/", version: version)
      try client.head()
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      // The heartbeat that asks whether it still reads.
      try client.body(until: "one\n\n")
      log.append(id: 2, kind: 0, bytes: Array("two\n".utf8))
      #expect(try client.rest() == "two\n")
      #expect(fixture.eventually { $0.connections == 0 && $0.streamsGone == 0 })
    }

    @Test("A client that stopped reading is disconnected", arguments: ["/later", "/wait", "/stream"])
    func gone(path: String) throws {
      let fixture = try fixture()
      let client = try ask(fixture, path)
      #expect(fixture.eventually { $0.requests == 1 })
      client.close()
      #expect(fixture.eventually { $0.connections == 0 && $0.waiting == 0 && $0.streams == 0 })
      #expect(fixture.server.counters.expired == 0)
    }
  }
}
