import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Refusal requests")
  struct Refusals {
    /// A server whose refusals show the id of the request that they were told of.
    private func showingIDs(_ configure: (inout HTTPServerConfiguration) -> Void) throws -> HTTPServer {
      var configuration = HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))
      configure(&configuration)
      let log = EventLog()
      let server = HTTPServer(
        configuration: configuration,
        handler: { request in
          switch request.path {
          case "/stream": Fixture.follow(log)(request)
          case "/dropped": .later { _ in }
          default: Fixture.echo(request)
          }
        },
        refusal: { refusal, request in
          HTTPResponse(status: refusal.status, headers: ["X-Id": request?.headers["X-Id"] ?? "none"])
        })
      try server.start()
      return server
    }

    @Test("The refusal handler receives the complete request head")
    func refusedRequests() throws {
      let server = try showingIDs { ($0.requestBodyLimit, $0.streamLimit) = (10, 0) }
      defer { server.stop() }
      // Later versions of libmicrohttpd refuse these two themselves.
      let passedOn = isKnownLayout ? ["GET /a HTTP/1.1\r\n", "GET /a HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n"] : []
      for (head, status) in passedOn.map({ ($0, 400) }) + [
        ("GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400), ("GET /stream HTTP/1.1\r\nHost: a\r\n", 503),
        ("GET /dropped HTTP/1.1\r\nHost: a\r\n", 500),
        ("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n", 413),
        ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", 411),
      ] {
        let client = try RawClient(server.boundAddress)
        client.send("\(head)X-Id: mine\r\n\r\n\(head.contains("chunked") ? "b\r\n01234567890\r\n" : "")")
        let response = try client.response()
        #expect(response.status == status && response.header("X-Id") == "mine", "\(head): \(response.head)")
      }
      let long = try RawClient(server.boundAddress)
      long.send("GET /a HTTP/1.1\r\nHost: a\r\nX-Id: mine\r\nX: \(String(repeating: "a", count: 20_000))\r\n\r\n")
      #expect(try long.response().header("X-Id") == "none")
    }

    @Test("A capacity refusal receives the request, too", arguments: [429, 503])
    func refusedForRoom(status: Int) throws {
      let server = try showingIDs { if status == 429 { $0.connectionsPerAddress = 1 } else { $0.connectionLimit = 1 } }
      defer { server.stop() }
      let first = try RawClient(server.boundAddress)
      first.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
      try first.body(until: "hello\n")
      let second = try RawClient(server.boundAddress)
      second.send("GET /a HTTP/1.1\r\nHost: a\r\nX-Id: mine\r\n\r\n")
      let response = try second.response()
      #expect(response.status == status && response.header("X-Id") == "mine")
    }
  }
}
