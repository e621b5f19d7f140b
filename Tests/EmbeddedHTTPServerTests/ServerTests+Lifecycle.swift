import Glibc
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Start and stop")
  struct Lifecycle {
    private func open(_ fixture: Fixture, _ target: String) throws -> RawClient {
      let client = try fixture.client()
      client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      return client
    }

    @Test(
      "A stop with open connections leaks no descriptor",
      arguments: HTTPStreamMode.both)
    func stop(mode: HTTPStreamMode) throws {
      let before = openDescriptors()
      for _ in 0..<3 {
        let log = EventLog()
        let kept = Promises.Shelf<HTTPPromise>()
        let fixture = try Fixture(mode) { request in
          switch request.path {
          case "/e": Fixture.follow(log)(request)
          case "/later": .later { kept.put($0) }
          default: Fixture.echo(request)
          }
        }
        let streams = try (0..<20).map { _ in try open(fixture, "/e") }
        for client in streams {
          try client.head()
          try client.body(until: "hello\n")
        }
        let idle = try open(fixture, "/x")
        _ = try idle.response()
        let silent = try fixture.client()
        let waiting = try open(fixture, "/later")
        #expect(fixture.eventually { $0.connections == 23 && kept.peek != nil })
        fixture.server.stop()
        #expect(fixture.server.counters.streams == 0)
        #expect(fixture.server.counters.connections == 0)
        for client in streams + [idle, silent, waiting] {
          #expect(try client.receiveAll().isEmpty)
          client.close()
        }
        log.append(id: 1, kind: 0, bytes: [1])
      }
      #expect(openDescriptors() == before)
    }

    @Test("A draining server sends Connection: close and still accepts")
    func part() throws {
      let fixture = try Fixture()
      let client = try open(fixture, "/a")
      #expect(try client.response().header("Connection") != "close")
      fixture.server.announceClose()
      #expect(
        fixture.eventually { _ in
          guard let client = try? open(fixture, "/b"), let response = try? client.response() else { return false }
          return response.status == 200 && response.header("Connection") == "close"
        })
      client.send("GET /c HTTP/1.1\r\nHost: a\r\n\r\n")
      let last = try client.response()
      #expect(last.header("Connection") == "close" && last.text == "GET /c [] a ")
      #expect(try client.receiveAll().isEmpty)
    }

    @Test("After it stops accepting, open connections are served")
    func stopAccepting() throws {
      let fixture = try Fixture()
      let client = try open(fixture, "/a")
      _ = try client.response()
      fixture.server.stopAccepting()
      #expect(throws: RawClient.Failure.self) { try fixture.client() }
      client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().text == "GET /b [] a ")
      fixture.server.stopAccepting()
    }

    @Test("A drain refuses clients, closes streams, stops in time", arguments: HTTPStreamMode.both)
    func drain(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let client = try open(fixture, "/")
      try client.head()
      try client.body(until: "hello\n")
      fixture.server.stopAccepting()
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      fixture.server.stop(grace: .seconds(20))
      #expect(try client.rest() == "bye\n")
    }

    @Test("A finite stream may complete within the grace period")
    func finiteStream() throws {
      let log = EventLog()
      let fixture = try Fixture.serving { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], heartbeat: .init(bytes: [0x0a]), endsAfter: 2)
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try open(fixture, "/")
      try client.head()
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      try client.body(until: "one\n")
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(20)) }
      fixture.waitUntilRefusing()
      // A turn more, in which a stream that was to end would have ended.
      let turns = fixture.server.loopTurns
      fixture.server.wake()
      #expect(fixture.eventually { _ in fixture.server.loopTurns > turns })
      log.append(id: 2, kind: 0, bytes: Array("two\n".utf8))
      #expect(try client.rest() == "two\n")
      stopped()
    }

    @Test("Waiting requests are answered 503 before the grace ends")
    func finalGrace() throws {
      let kept = Promises.Shelf<HTTPPromise>()
      let fixture = try Fixture.serving { request in
        request.path == "/later" ? .later { kept.put($0) } : Fixture.echo(request)
      }
      let client = try open(fixture, "/later")
      #expect(fixture.eventually { _ in kept.peek != nil })
      let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(1)) }
      let response = try client.response()
      #expect(response.status == 503)
      #expect(response.header("Retry-After") == "2")
      #expect(try client.receiveAll().isEmpty)
      stopped()
    }

    @Test("A thousand connections open, close and reset")
    func comeAndGo() throws {
      let fixture = try Fixture()
      let before = openDescriptors()
      for number in 0..<1000 {
        let client = try fixture.client()
        if number % 3 > 0 { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
        if number % 3 == 1 { #expect(try client.response().status == 200) }
        if number % 2 == 0 { client.reset() } else { client.close() }
      }
      #expect(fixture.eventually { $0.connections == 0 && $0.accepted >= 900 })
      // The last connections may not be accepted yet.
      #expect(fixture.eventually { _ in openDescriptors() == before })
    }

    @Test("Start works once, stop is idempotent")
    func misuse() throws {
      let server = HTTPServer(
        configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)), handler: Fixture.echo)
      server.stopAccepting()
      server.endStreams()
      try server.start()
      #expect(server.isServing)
      #expect(server.boundAddress.port != 0)
      #expect(throws: HTTPServerError.self) { try server.start() }
      server.stop()
      server.stop()
      #expect(throws: HTTPServerError.self) { try server.start() }
    }

    @Test("A bound socket queues clients until the start")
    func bindFirst() throws {
      let before = openDescriptors()
      do {
        let server = HTTPServer(
          configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)), handler: Fixture.echo)
        try server.bind()
        #expect(server.boundAddress.port != 0)
        #expect(!server.isServing)
        #expect(throws: HTTPServerError.self) { try server.bind() }
        let client = try RawClient(server.boundAddress)
        client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        try server.start()
        #expect(try client.response().status == 200)
        server.stop()
        client.close()
        let never = HTTPServer(
          configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)), handler: Fixture.echo)
        try never.bind()
      }
      #expect(openDescriptors() == before)
    }

    @Test("An inherited listening socket is served and closed")
    func inherited() throws {
      let before = openDescriptors()
      do {
        let descriptor = try ListeningSocket(ListenAddress(host: "127.0.0.1", port: 0), mode: 0).descriptor
        let server = HTTPServer(configuration: .init(inheriting: descriptor), handler: Fixture.echo)
        try server.start()
        #expect(server.boundAddress.host == "127.0.0.1")
        let client = try RawClient(server.boundAddress)
        client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().status == 200)
        client.close()
        server.stop()
      }
      #expect(openDescriptors() == before)
    }

    @Test("A socket that does not listen is rejected")
    func notASocket() {
      let idle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      let local = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer {
        close(idle)
        close(local)
      }
      listen(local, 1)
      for descriptor in [idle, local, -1] {
        let server = HTTPServer(configuration: .init(inheriting: descriptor), handler: Fixture.echo)
        #expect(throws: HTTPServerError.self) { try server.start() }
      }
    }

    @Test("The loop runs when woken and sleeps when idle")
    func turns() throws {
      let fixture = try Fixture()
      let before = fixture.server.loopTurns
      fixture.server.wake()
      #expect(fixture.eventually { _ in fixture.server.loopTurns > before })
      #expect(fixture.server.lastProgress > 0)
    }

    @Test("An idle server with idle streams does not wake", arguments: HTTPStreamMode.both)
    func quiet(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let clients = try (0..<10).map { _ in try open(fixture, "/") }
      for client in clients {
        try client.head()
        try client.body(until: "hello\n")
      }
      // A stray timer causes at most a few turns.
      #expect(fixture.turns(in: .milliseconds(300)).count < 5)
    }
  }
}
