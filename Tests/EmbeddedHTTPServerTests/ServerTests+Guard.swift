import Glibc
import Locks
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Hostile requests")
  struct Guard {
    @Test("is accepted: absolute form, whose host takes precedence")
    func absolute() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send("GET http://real.test:80/a?b=c HTTP/1.1\r\nHost: other\r\n\r\n")
      #expect(try client.response().text == "GET /a [b=c] real.test:80 ")
    }

    @Test("is accepted: OPTIONS *, a lower-case method, white space around a value")
    func harmless() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().text == "OPTIONS * [] a ")
      client.send("get / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().text == "get / [] a ")
      client.send("GET / HTTP/1.1\r\nHost: \t a \t\r\n\r\n")
      #expect(try client.response().text == "GET / [] a ")
    }

    @Test("is refused with the refusal handler's response")
    func rendering() throws {
      var configuration = HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))
      configuration.requestBodyLimit = 10
      let server = HTTPServer(
        configuration: configuration, handler: Fixture.echo,
        refusal: { refusal, _ in
          HTTPResponse(status: refusal.status, body: .bytes(Array("{\(refusal.rule.rawValue)}".utf8)))
        })
      try server.start()
      let client = try RawClient(server.boundAddress)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
      #expect(try client.response().text == "{bodyTooLarge}")
      #expect(server.counters.refused == 1)
      server.stop()
    }

    @Test("A slow head is answered 408, half a line not")
    func drip() throws {
      let fixture = try Fixture(configure: { $0.requestHeadTime = .milliseconds(300) })
      let slowLine = try fixture.client()
      let slowHead = try fixture.client()
      slowHead.send("GET / HTTP/1.1\r\n")
      let drip = onThread { [fixture] in
        while fixture.server.counters.connections > 0 {
          slowLine.sendByte()
          slowHead.sendByte()
          pause(.milliseconds(20), because: "the client sends slowly")
        }
      }
      #expect(fixture.eventually { $0.expired == 2 && $0.connections == 0 })
      drip()
      #expect(try slowLine.receiveAll().isEmpty)
      #expect(try slowHead.receiveAll().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test("A silent connection is closed, an idle one later")
    func silence() throws {
      let fixture = try Fixture(configure: { $0.requestHeadTime = .milliseconds(200) })
      let spoken = try fixture.client()
      spoken.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try spoken.response()
      let silent = try fixture.client()
      #expect(try silent.receiveAll().isEmpty)
      spoken.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try spoken.response().status == 200)
    }

    @Test("A slow body is answered 408")
    func slowBody() throws {
      let fixture = try Fixture(configure: {
        $0.requestBodyTime = .milliseconds(200)
        $0.requestHeadTime = .milliseconds(200)
      })
      let client = try fixture.client()
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      let answer = try client.receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
      #expect(answer.lowercased().contains("connection: close"))
      client.close()
      #expect(fixture.eventually { $0.expired == 1 && $0.connections == 0 })
    }

    @Test("A rejected client that stays connected is disconnected")
    func stubborn() throws {
      let fixture = try Fixture(configure: { $0.requestBodyTime = .milliseconds(100) })
      let client = try fixture.client()
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      _ = try client.response()
      // What was late stays unanswered: the request completes now, and a good one follows.
      client.send("defghijGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(fixture.eventually { $0.connections == 0 })
      #expect(try client.receiveAll().isEmpty)
      #expect(fixture.server.counters.requests == 1)
    }

    @Test("A refusal's log entry has the refusal's duration")
    func refusalTimes() throws {
      let times = Locked<[UInt64]>([])
      let server = HTTPServer(
        configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)), handler: Fixture.echo,
        answered: { answer in times.withLock { $0.append(answer.nanoseconds) } })
      try server.start()
      let client = try RawClient(server.boundAddress)
      client.send("GET / HTTP/1.1\r\n\r\n")
      #expect(try client.response().status == 400)
      server.stop()
      let told = times.withLock(\.self)
      #expect(told.count == 1 && told.allSatisfy { $0 < 60_000_000_000 }, "\(told)")
    }

    @Test("Connections above the per-address limit are answered 429")
    func connectionsPerAddress() throws {
      let fixture = try Fixture(configure: { $0.connectionsPerAddress = 2 })
      let clients = [try fixture.client(), try fixture.client()]
      for client in clients {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().status == 200)
      }
      let third = try fixture.client()
      third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let response = try third.response()
      #expect(response.status == 429)
      #expect(response.header("Retry-After") == "2")
      #expect(try third.receiveAll().isEmpty)
      clients[0].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try clients[0].response().status == 200)
      clients[1].close()
      third.close()
      #expect(fixture.eventually { $0.connections == 1 })
      let fourth = try fixture.client()
      fourth.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try fourth.response().status == 200)
    }

    @Test("Requests on connections above the limit are answered 503 while all others are served")
    func overload() throws {
      let log = EventLog()
      let fixture = try Fixture(.takeover, configure: { $0.connectionLimit = 2 }, handler: Fixture.follow(log))
      let streams = try (0..<2).map { _ in try fixture.client() }
      for client in streams {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.body(until: "hello\n")
      }
      let third = try fixture.client()
      third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let response = try third.response()
      #expect(response.status == 503)
      #expect(response.header("Retry-After") == "2")
      streams[0].close()
      #expect(fixture.eventually { $0.connections == 1 })
      let fourth = try fixture.client()
      fourth.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try fourth.body(until: "hello\n")
    }

    @Test("A request above the limit takes the place of the connection that is idle for the longest time")
    func displacement() throws {
      let fixture = try Fixture(configure: { $0.connectionLimit = 2 })
      func ask(_ client: RawClient) throws -> Int {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return try client.response().status
      }
      let clients = try (0..<3).map { _ in try fixture.client() }
      #expect(fixture.eventually { $0.connections == 3 })
      #expect(try ask(clients[0]) == 200)
      #expect(try ask(clients[1]) == 200)
      #expect(try ask(clients[2]) == 200)
      #expect(try clients[0].receiveAll().isEmpty)
      #expect(fixture.eventually { $0.connections == 2 && $0.displaced == 1 })
      #expect(try ask(clients[1]) == 200)
      #expect(try ask(clients[2]) == 200)
    }

    @Test("Connections without a request beyond the reserve take the place of older ones")
    func reserve() throws {
      let log = EventLog()
      let fixture = try Fixture(.takeover, configure: { $0.connectionLimit = 2 }, handler: Fixture.follow(log))
      let streams = try (0..<2).map { _ in try fixture.client() }
      for client in streams {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.body(until: "hello\n")
      }
      let idle = try (0..<Limits.overload + 20).map { _ in try fixture.client() }
      for client in idle[..<21] { #expect(try client.receiveAll().isEmpty) }
      #expect(fixture.eventually { $0.connections == 1 + Limits.overload && $0.displaced == 21 })
      idle[21].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try idle[21].response().status == 503)
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      for client in streams { try client.body(until: "one\n") }
    }

    @Test("NUL is never accepted as a separator")
    func hiddenNUL() throws {
      let fixture = try Fixture()
      for (honest, hidden) in [
        ("GET /a?b=c&d HTTP/1.1", "GET /a\0b=c&d HTTP/1.1"), ("GET /a?b=c&d HTTP/1.1", "GET /a?b\0c&d HTTP/1.1"),
        ("GET /a?b=c&d HTTP/1.1", "GET /a?b=c\0d HTTP/1.1"), ("GET /a HTTP/1.1", "GET /a\0HTTP/1.1"),
        ("GET /a HTTP/1.1", "GET\0/a HTTP/1.1"),
      ] {
        let client = try fixture.client()
        for _ in 0..<2 {
          client.send("\(honest)\r\nHost: a\r\n\r\n")
          #expect(try client.response().status == 200)
        }
        client.send("\(hidden)\r\nHost: a\r\n\r\n")
        // libmicrohttpd refuses some of them without an answer.
        let answer = try client.receiveAll()
        #expect(
          answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 505 "),
          "\(hidden.debugDescription): \(answer)")
      }
    }
  }
}

extension RawClient: @unchecked Sendable {
  /// Sends one byte, from a thread of its own, while no other thread uses the client.
  func sendByte() { send("x") }
}

extension String {
  /// How often `text` occurs.
  func components(of text: String) -> Int {
    var count = 0
    var bytes = Array(utf8)
    while let found = bytes.firstRange(of: Array(text.utf8), from: 0) {
      count += 1
      bytes.removeFirst(found + text.utf8.count)
    }
    return count
  }
}
