import Glibc
import Testing

@testable import MicroHTTP

extension ServerTests {
  @Suite("Starting, stopping and what is left")
  struct Lifecycle {
    private func open(_ fixture: Fixture, _ target: String) throws -> RawClient {
      let client = try fixture.client()
      client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      return client
    }

    @Test(
      "A stop with open streams, idle connections and a waiting promise joins and leaks no descriptor",
      arguments: StreamMode.both)
    func stop(mode: StreamMode) throws {
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

    @Test("Before it stops accepting it asks clients to come back by other connections, and takes those")
    func part() throws {
      let fixture = try Fixture()
      let client = try open(fixture, "/a")
      #expect(try client.response().header("Connection") != "close")
      fixture.server.part()
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

    @Test("Once it no longer accepts, clients are refused and open connections are served on")
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

    @Test("A drain in order: no new clients, farewell, stop within its grace", arguments: StreamMode.both)
    func drain(mode: StreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let client = try open(fixture, "/")
      try client.head()
      try client.body(until: "hello\n")
      fixture.server.stopAccepting()
      fixture.server.endStreams(farewell: Array("bye\n".utf8))
      fixture.server.stop(grace: .seconds(20))
      #expect(try client.rest() == "bye\n")
    }

    @Test("A stream with an end has the time of the grace to come to it, whatever streams are told")
    func finiteStream() throws {
      let log = EventLog()
      let fixture = try Fixture.serving { _ in
        let stream = HTTPStream(
          feeds: [.init(log: log, cursor: log.end)], heartbeat: .init(bytes: [0x0a]), endsAfter: 2)
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try open(fixture, "/")
      try client.head()
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      try client.body(until: "one\n")
      fixture.server.endStreams(farewell: Array("bye\n".utf8))
      let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(20)) }
      while (try? fixture.client()) != nil { usleep(1000) }
      // A turn more, in which a stream that was to end would have ended.
      let turns = fixture.server.loopTurns
      fixture.server.wake()
      #expect(fixture.eventually { _ in fixture.server.loopTurns > turns })
      log.append(id: 2, kind: 0, bytes: Array("two\n".utf8))
      #expect(try client.rest() == "two\n")
      stopped()
    }

    @Test("Who waits for an answer when the grace is nearly over is told 503")
    func lastCall() throws {
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

    @Test("A thousand connections come and go, politely and not")
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
      #expect(openDescriptors() == before)
    }

    @Test("A server is started once, and stopping twice or before the start is harmless")
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

    @Test("A socket that was bound before keeps its clients until the server starts")
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

    @Test("A socket that somebody else listens on is served, and closed with the server")
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

    @Test("What is no listening TCP socket is not taken over")
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

    @Test("The loop turns when woken, and sleeps when nobody speaks")
    func turns() throws {
      let fixture = try Fixture()
      let before = fixture.server.loopTurns
      fixture.server.wake()
      #expect(fixture.eventually { _ in fixture.server.loopTurns > before })
      #expect(fixture.server.lastProgress > 0)
    }

    @Test("An idle server with idle streams takes no turns of its own", arguments: StreamMode.both)
    func quiet(mode: StreamMode) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, handler: Fixture.follow(log))
      let clients = try (0..<10).map { _ in try open(fixture, "/") }
      for client in clients {
        try client.head()
        try client.body(until: "hello\n")
      }
      usleep(100_000)
      let before = fixture.server.loopTurns
      usleep(300_000)
      // A loop that spins takes hundreds of thousands of turns in this time; a stray timer at most a few.
      #expect(fixture.server.loopTurns - before < 5)
    }
  }
}
