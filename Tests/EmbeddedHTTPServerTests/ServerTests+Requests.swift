import Glibc
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Requests and answers")
  struct Requests {
    @Test("Several requests share one connection")
    func keepAlive() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      for number in 1...5 {
        client.send("GET /n\(number)?a=b%20c HTTP/1.1\r\nHost: x\r\n\r\n")
        let response = try client.response()
        #expect(response.status == 200)
        #expect(response.text == "GET /n\(number) [a=b c] x ")
      }
      #expect(fixture.server.counters.accepted == 1)
      #expect(fixture.server.counters.requests == 5)
    }

    @Test("Pipelined requests are answered in order")
    func pipelining() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send((1...20).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
      for number in 1...20 { #expect(try client.response().text == "GET /\(number) [] x ") }
    }

    @Test("A body with a length is read whole")
    func bodies() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
      #expect(try client.response().text == "POST /p [] x hello")
    }

    @Test("A body may span packets up to the limit")
    func longBody() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      let body = String(repeating: "x", count: Fixture.bodyLimit)
      client.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
      for part in stride(from: 0, to: body.utf8.count, by: 10_000) {
        client.send(Array(Array(body.utf8)[part..<min(part + 10_000, body.utf8.count)]))
      }
      #expect(try client.response().body.count == "POST /p [] x ".count + body.utf8.count)
    }

    @Test("Expect: 100-continue is answered before the body is sent")
    func expectContinue() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      client.send("PUT /p HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.response().status == 100)
      client.send("ok")
      #expect(try client.response().text == "PUT /p [] x ok")
    }

    @Test("A body above the limit is answered 413")
    func tooLarge() throws {
      let fixture = try Fixture()
      let announced = try fixture.client()
      announced.send("PUT /p HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\nExpect: 100-continue\r\n\r\n")
      let refused = try announced.response()
      #expect(refused.status == 413)
      #expect(refused.header("Connection") == "close")
      let eager = try fixture.client()
      eager.send("PUT /p HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n")
      eager.send([UInt8](repeating: 120, count: 300_000))
      #expect(try eager.response().status == 413)
    }

    @Test("HEAD answers the head of GET without a body")
    func head() throws {
      let log = EventLog()
      let shared = SharedResponseBody(headers: ["X-Shared": "1"], bytes: Array("shared".utf8))
      let fixture = try Fixture.serving { request in
        switch request.path {
        case "/shared": .now(HTTPResponse(shared: shared))
        case "/stream": Fixture.follow(log)(request)
        default: Fixture.echo(request)
        }
      }
      let client = try fixture.client()
      for (path, length) in [("/shared", "6"), ("/bytes", "17")] {
        client.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        let response = try client.response(hasBody: false)
        #expect(response.status == 200)
        #expect(response.header("Content-Length") == length)
      }
      client.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n")
      let answer = try client.receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.contains("text/event-stream"))
      #expect(!answer.contains("Content-Length"))
      #expect(answer.hasSuffix("\r\n\r\n"))
      #expect(answer.firstRange(of: "\r\n\r\n") == answer.utf8.count - 4)
      #expect(fixture.server.counters.streamsOpened == 0)
    }

    @Test("HTTP/1.0 closes and streams without chunking")
    func oldVersion() throws {
      let log = EventLog()
      let fixture = try Fixture.serving { $0.path == "/s" ? Fixture.follow(log)($0) : Fixture.echo($0) }
      let answer = try fixture.exchange("GET /a HTTP/1.0\r\n\r\n")
      #expect(answer.hasSuffix("\r\n\r\nGET /a [] - "))
      let stream = try fixture.client()
      stream.send("GET /s HTTP/1.0\r\n\r\n")
      let head = try stream.receive(until: "\r\n\r\n")
      #expect(!head.contains("chunked"))
      try stream.receive(until: "hello\n")
      for id in 1...100 {
        log.append(id: UInt64(id), kind: 0, bytes: Array("e\(id)\n".utf8))
        try stream.receive(until: "e\(id)\n")
      }
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      #expect(try stream.receiveAll() == "bye\n")
    }

    @Test("A head that fills the memory is answered 431")
    func barelyTooLong() throws {
      let fixture = try Fixture()
      var answers: Set<String> = []
      for length in stride(from: Limits.connectionMemory - 1400, through: Limits.connectionMemory + 100, by: 12) {
        let field = String(repeating: "x", count: length)
        let answer = try fixture.exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: \(field)\r\n\r\n")
        answers.insert(String(answer.prefix(13)))
      }
      #expect(answers == ["HTTP/1.1 200 ", "HTTP/1.1 431 "])
    }

    @Test("Oversized heads are answered 431, oversized targets 414")
    func tooLong() throws {
      let fixture = try Fixture()
      let long = String(repeating: "a", count: 20_000)
      #expect(try fixture.exchange("GET / HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n\r\n").hasPrefix("HTTP/1.1 431 "))
      #expect(try fixture.exchange("GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n").hasPrefix("HTTP/1.1 414 "))
    }

    @Test("A large head may span packets")
    func largeHead() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      for size in [1, 500, 4000, 4096, 5000, 6000] {
        let long = String(repeating: "a", count: size)
        let text = "GET /x HTTP/1.1\r\nHost: x\r\nX-A: \(long)\r\nX-Empty:\r\nX-B:b\r\n\r\n"
        client.send(text)
        #expect(try client.response().status == 200, "\(size)")
        for part in stride(from: 0, to: text.utf8.count, by: 700) {
          client.send(Array(Array(text.utf8)[part..<min(part + 700, text.utf8.count)]))
          pause(.microseconds(500), because: "the next part arrives in a packet of its own")
        }
        #expect(try client.response().status == 200, "\(size) in packets")
      }
    }

    @Test("IPv6 is served and the peer address reported")
    func ipv6() throws {
      let fixture = try Fixture.serving(host: "::1") { request in
        .now(HTTPResponse(body: .bytes(Array("\(request.peer) \(request.isLoopbackListener)".utf8))))
      }
      #expect(fixture.address.description.hasPrefix("[::1]:"))
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      let text = try client.response().text
      #expect(text.hasPrefix("[::1]:"))
      #expect(text.hasSuffix(" true"))
    }

    @Test("A used port is a clear error")
    func taken() throws {
      let fixture = try Fixture()
      let second = HTTPServer(configuration: .init(address: fixture.address), handler: Fixture.echo)
      let error = #expect(throws: HTTPServerError.self) { try second.start() }
      #expect(error?.operation == "bind")
      #expect(error?.code == EADDRINUSE)
      #expect(error?.description.contains(fixture.address.description) == true)
    }

    @Test("Statuses without a body and handler headers")
    func statuses() throws {
      let fixture = try Fixture.serving { request in
        let status = Int(request.path.dropFirst()) ?? 200
        return .now(HTTPResponse(status: status, headers: ["X-A": "1", "X-Bad": "a\r\nX-B: 2"], body: .none))
      }
      let client = try fixture.client()
      for status in [200, 204, 304, 404, 503] {
        client.send("GET /\(status) HTTP/1.1\r\nHost: x\r\n\r\n")
        let response = try client.response()
        #expect(response.status == status)
        #expect(response.header("X-A") == "1")
        #expect(response.header("X-B") == nil)
      }
    }

    @Test("Only a byte-identical head reuses the cached head")
    func repeated() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      for text in ["a", "a", "b", "a", "a"] {
        client.send("GET /\(text)?q=\(text) HTTP/1.1\r\nHost: \(text)\r\n\r\n")
        #expect(try client.response().text == "GET /\(text) [q=\(text)] \(text) ")
      }
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
      #expect(try client.response().text == "POST /a [] a x")
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\ny")
      #expect(try client.response().text == "POST /a [] a y")
      client.send("GET /a?q=a HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 200)
      client.send("GET /a?q=a HTTP/1.1\r\nHost: /\r\n\r\n")
      #expect(try client.response().status == 400)
    }
  }
}

extension String {
  /// The offset of the first occurrence of `pattern`, in bytes.
  func firstRange(of pattern: String) -> Int? {
    Array(utf8).firstRange(of: Array(pattern.utf8), from: 0)
  }
}
