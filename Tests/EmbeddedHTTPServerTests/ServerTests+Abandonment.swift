import Glibc
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Abandoned responses")
  struct Abandonment {
    private static let request = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"

    /// A server that promises answers for `/later`, and how often it was told that one was in vain.
    private final class Bench: Sendable {
      let promises = Promises.Shelf<HTTPPromise>()
      let abandoned = Tally()

      func fixture(configure: (inout HTTPServerConfiguration) -> Void = { _ in }) throws -> Fixture {
        try Fixture(configure: configure) { [self] request in
          guard request.path == "/later" else { return Fixture.echo(request) }
          return .later { [self] promise in
            // As a router does that puts something on every answer.
            let mapped = promise.map(\.self)
            mapped.onAbandonment { [abandoned] in abandoned.add() }
            promises.put(mapped)
          }
        }
      }

      func promise() throws -> HTTPPromise {
        try #require(promises.wait())
      }
    }

    @Test("A disconnect is reported once", arguments: [false, true])
    func gone(byReset: Bool) throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      client.send(Self.request)
      let promise = try bench.promise()
      #expect(bench.abandoned.value == 0)
      if byReset { client.reset() } else { client.close() }
      #expect(fixture.eventually { _ in bench.abandoned.value == 1 })
      #expect(fixture.eventually { $0.connections == 0 })
      promise.fulfil(HTTPResponse())
      fixture.server.stop()
      #expect(bench.abandoned.value == 1)
    }

    @Test("A timeout is reported once")
    func tooLate() throws {
      let bench = Bench()
      let fixture = try bench.fixture { $0.replyTime = .milliseconds(50) }
      let client = try fixture.client()
      client.send(Self.request)
      let promise = try bench.promise()
      #expect(try client.response().status == 500)
      #expect(bench.abandoned.value == 1)
      promise.fulfil(HTTPResponse())
      client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 200)
      #expect(bench.abandoned.value == 1)
    }

    @Test("A server stop is reported once, before and after")
    func stopped() throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      client.send(Self.request)
      let promise = try bench.promise()
      fixture.server.stop()
      #expect(bench.abandoned.value == 1)
      promise.onAbandonment { [bench] in bench.abandoned.add() }
      #expect(bench.abandoned.value == 2)
    }

    @Test("A handler set after the disconnect runs immediately")
    func askedLate() throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      client.send(Self.request)
      let promise = try bench.promise()
      client.reset()
      #expect(fixture.eventually { _ in bench.abandoned.value == 1 })
      promise.onAbandonment { [bench] in bench.abandoned.add() }
      #expect(fixture.eventually { _ in bench.abandoned.value == 2 })
    }

    @Test("A fulfilled or dropped promise is not abandoned", arguments: [false, true])
    func kept(isDropped: Bool) throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      for _ in 0..<3 {
        client.send(Self.request)
        if isDropped { _ = try bench.promise() } else { try bench.promise().fulfil(HTTPResponse(status: 201)) }
        #expect(try client.response().status == (isDropped ? 500 : 201))
      }
      client.close()
      #expect(fixture.eventually { $0.connections == 0 })
      fixture.server.stop()
      #expect(bench.abandoned.value == 0)
    }

    /// Answers with a stream that ends after two entries.
    private static func pair(_ log: EventLog, _ abandoned: Tally) -> HTTPHandler {
      { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], heartbeat: .init(bytes: [0x0a]), endsAfter: 2,
          onAbandonment: { abandoned.add() })
        return .now(HTTPResponse(body: .stream(stream)))
      }
    }

    @Test("A finite stream reports only a premature disconnect")
    func streams() throws {
      let abandoned = Tally()
      let log = EventLog()
      let fixture = try Fixture(handler: Self.pair(log, abandoned))
      let (client, leaver) = (try fixture.client(), try fixture.client())
      for client in [client, leaver] { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
      for client in [client, leaver] { try client.head() }
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      try leaver.body(until: "one\n")
      #expect(abandoned.value == 0)
      leaver.close()
      #expect(fixture.eventually { _ in abandoned.value == 1 })
      log.append(id: 2, kind: 0, bytes: Array("two\n".utf8))
      #expect(try client.rest() == "one\ntwo\n")
      #expect(fixture.server.counters.streams == 0, "it is an answer in pieces")
      fixture.server.stop()
      #expect(abandoned.value == 1)
    }

    @Test("A stream that never started is reported")
    func refusedStream() throws {
      let abandoned = Tally()
      let log = EventLog()
      let fixture = try Fixture(configure: { $0.streamLimit = 0 }) { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], heartbeat: .init(bytes: [0x0a]),
          onAbandonment: { abandoned.add() })
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 503)
      #expect(abandoned.value == 1)
    }

    @Test("An endless stream reports its end", arguments: HTTPStreamMode.both)
    func endless(mode: HTTPStreamMode) throws {
      let abandoned = Tally()
      let log = EventLog()
      let fixture = try Fixture(mode) { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], heartbeat: .init(bytes: [0x0a]),
          onAbandonment: { abandoned.add() })
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.head()
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      try client.body(until: "one\n")
      #expect(abandoned.value == 0)
      client.close()
      #expect(fixture.eventually { _ in abandoned.value == 1 })
    }
  }
}
