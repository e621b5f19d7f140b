import EventStreams
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Permission of streams")
  struct Permission {
    @Test("A stream is closed when it is not permitted any more", arguments: HTTPStreamMode.both)
    func permission(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let refused = Tally()
      let follow = Fixture.follow(log, heartbeat: .milliseconds(20))
      let fixture = try Fixture(mode) { request in
        guard case .now(var response) = follow(request), case .stream(var stream) = response.body else {
          return .now(HTTPResponse(status: 500))
        }
        if request.path == "/limited" { stream.isPermitted = { refused.value == 0 } }
        response.body = .stream(stream)
        return .now(response)
      }
      let clients = try ["/limited", "/"].map { path in
        let client = try fixture.client()
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.head()
        try client.body(until: "beat")
        return client
      }
      refused.add()
      #expect(throws: RawClient.Failure.self) { try clients[0].rest() }
      for _ in 0..<3 { try clients[1].body(until: "beat") }
      #expect(fixture.eventually { $0.streams == 1 })
    }
  }
}
