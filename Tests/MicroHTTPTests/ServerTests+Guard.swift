import Glibc
import Testing

@testable import MicroHTTP

extension ServerTests {
  @Suite("Hostile requests on the wire")
  struct Guard {
    static let hostile: [(String, String)] = [
      (
        "length and coding",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      ),
      (
        "coding and length",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
      ),
      ("two equal lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"),
      ("two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\na"),
      ("an unknown coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
      ("chunked with a space", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n"),
      ("a space before the colon", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
      ("a NUL in the target", "GET /status\0x HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("a NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"),
      ("a NUL in the last value", "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"),
      ("a NUL in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n"),
      ("an encoded NUL", "GET /status%00x HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("a folded value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"),
      ("a folded last value", "GET / HTTP/1.1\r\nX: b\r\nHost: a\r\n\tc\r\n\r\n"),
      (
        "a coding hidden by folding",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n x\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
      ),
      ("a folded first line", "GET / HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n"),
      ("no host", "GET / HTTP/1.1\r\n\r\n"),
      ("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
      ("a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("a control byte in the target", "GET /a\u{1}b HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("a lone CR in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n"),
      ("a line without a colon", "GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"),
      ("GET *", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
      ("a malformed percent sequence", "GET /%G1 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ]

    @Test("is refused once, and nothing behind it is served", arguments: hostile)
    func refused(_ name: String, _ text: String) throws {
      let seen = Tally()
      let fixture = try Fixture.serving { request in
        seen.add()
        return Fixture.echo(request)
      }
      let answer = try fixture.exchange(text + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
      #expect(answer.lowercased().contains("connection: close"))
      #expect(answer.components(of: "HTTP/1.1 ") == 1)
      #expect(seen.value == 0)
    }

    /// libmicrohttpd judges this one itself, before any callback: it answers, and then sends its head a second time.
    @Test("A signed length is refused, and nothing behind it is served")
    func signedLength() throws {
      let seen = Tally()
      let fixture = try Fixture.serving { request in
        seen.add()
        return Fixture.echo(request)
      }
      let answer = try fixture.exchange(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\naGET /next HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
      #expect(seen.value == 0)
    }

    @Test("is accepted: absolute form, whose host wins")
    func absolute() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send("GET http://real.test:80/a?b=c HTTP/1.1\r\nHost: other\r\n\r\n")
      #expect(try client.response().text == "GET /a [b=c] real.test:80 ")
    }

    @Test("is accepted: OPTIONS *, a lower-case method, white space around a value, bare line feeds")
    func harmless() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().text == "OPTIONS * [] a ")
      client.send("get / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().text == "get / [] a ")
      client.send("GET / HTTP/1.1\r\nHost: \t a \t\r\n\r\n")
      #expect(try client.response().text == "GET / [] a ")
      client.send("GET / HTTP/1.1\nHost: a\n\n")
      #expect(try client.response().text == "GET / [] a ")
    }

    @Test("is refused in the words of whoever runs the server")
    func rendering() throws {
      var configuration = HTTPServer.Configuration(address: ListenAddress(host: "127.0.0.1", port: 0))
      configuration.requestBodyLimit = 10
      let server = HTTPServer(
        configuration: configuration, handler: Fixture.echo,
        refusal: { .init(status: $0.status, body: .bytes(Array("{\($0.rule.rawValue)}".utf8))) })
      try server.start()
      let client = try RawClient(server.boundAddress)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
      #expect(try client.response().text == "{bodyTooLarge}")
      #expect(server.counters.refused == 1)
      server.stop()
    }

    @Test("A head that drips is cut off, however busily it drips")
    func drip() throws {
      let fixture = try Fixture(configure: { $0.requestHeadTime = .milliseconds(300) })
      let slowLine = try fixture.client()
      let slowHead = try fixture.client()
      slowHead.send("GET / HTTP/1.1\r\n")
      let drip = onThread { [fixture] in
        while fixture.server.counters.connections > 0 {
          slowLine.sendByte()
          slowHead.sendByte()
          usleep(20_000)
        }
      }
      #expect(fixture.eventually { $0.expired == 2 && $0.connections == 0 })
      drip()
    }

    @Test("A connection that says nothing is cut off, and one that has spoken may be silent longer")
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

    @Test("A body that drips is cut off")
    func slowBody() throws {
      let fixture = try Fixture(configure: {
        $0.requestBodyTime = .milliseconds(200)
        $0.requestHeadTime = .milliseconds(200)
      })
      let client = try fixture.client()
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      #expect(try client.receiveAll().isEmpty)
      #expect(fixture.eventually { $0.expired == 1 && $0.connections == 0 })
    }

    @Test("Above the connection limit a client is told 503 and when to come back")
    func overload() throws {
      let fixture = try Fixture(configure: { $0.connectionLimit = 2 })
      let clients = [try fixture.client(), try fixture.client()]
      for client in clients {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.response()
      }
      let third = try fixture.client()
      third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let response = try third.response()
      #expect(response.status == 503)
      #expect(response.header("Retry-After") == "2")
      clients[0].close()
      #expect(fixture.eventually { $0.connections == 1 })
      let fourth = try fixture.client()
      fourth.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try fourth.response().status == 200)
    }
  }
}

extension RawClient: @unchecked Sendable {
  /// Sends one byte; used from a thread of its own while nobody else touches the client.
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
