import EventLoop
import Glibc
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("What a client's bytes cost the server's thread")
  struct Turns {
    static let head = "POST / HTTP/1.1\r\nHost: a\r\n"
    static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

    /// Bytes that leave libmicrohttpd with a full buffer, an unfinished request or more than it may read.
    static let inputs: [(name: String, bytes: String)] = [
      ("a chunk extension", chunked + "5;e=" + String(repeating: "a", count: 20_000)),
      ("a chunk size", chunked + String(repeating: "0", count: 20_000)),
      ("a trailer field", chunked + "0\r\nX: " + String(repeating: "a", count: 20_000)),
      ("a chunk without its end", chunked + "5\r\nhello"),
      (
        "a chunk extension after 100 Continue",
        head + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5;e=" + String(repeating: "a", count: 8_000)
      ),
      ("half of a body", head + "Content-Length: 60000\r\n\r\n" + String(repeating: "a", count: 30_000)),
      ("more than a body", head + "Content-Length: 9\r\n\r\n" + String(repeating: "a", count: 30_000)),
      ("a body beyond the limit", head + "Content-Length: 99999999\r\n\r\n" + String(repeating: "a", count: 300_000)),
      ("half of a head", "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 7_000)),
      ("a head beyond the buffer", "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 9_000)),
      ("empty lines", String(repeating: "\r\n", count: 2_000) + head),
      ("requests behind a promise", String(repeating: "GET /later HTTP/1.1\r\nHost: a\r\n\r\n", count: 1_000)),
      ("bytes behind a stream", "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n" + String(repeating: "a", count: 100_000)),
      ("bytes behind a refusal", "GET / HTTP/1.1\r\n\r\n" + String(repeating: "a", count: 100_000)),
    ]

    private func serve(_ identity: ServerTLSIdentity? = nil) throws -> Fixture {
      let log = EventLog()
      let kept = Promises.Shelf<HTTPPromise>()
      return try Fixture(configure: { $0.identity = identity }) { request in
        switch request.path {
        case "/later": .later { kept.put($0) }
        case "/stream": Fixture.follow(log)(request)
        default: Fixture.echo(request)
        }
      }
    }

    /// A loop that waits for handshakes or bodies with a pause takes less than one turn a millisecond.
    fileprivate static func expectRest(_ fixture: Fixture, _ comment: Comment) {
      let turns = fixture.turns(in: .milliseconds(200))
      #expect(turns.count < 2 * turns.milliseconds, comment)
    }

    @Test("The loop rests while a client waits, and after it has closed", arguments: inputs)
    func plain(name: String, bytes: String) throws {
      let fixture = try serve()
      let client = try fixture.client()
      // A server that does not read on takes no more than the socket's buffers.
      ListeningSocket.set(client.descriptor, SOL_SOCKET, SO_SNDBUF, 1 << 20)
      client.send(bytes)
      Self.expectRest(fixture, "\(name)")
      client.close()
      Self.expectRest(fixture, "\(name), closed")
    }

    @Test("The loop rests while a body waits for which a head leaves no memory")
    func fullMemory() throws {
      let fixture = try serve()
      // One of these fills the memory of its connection to the last byte.
      let clients = try (Limits.connectionMemory - 992..<Limits.connectionMemory).filter { $0 % 4 == 0 }.map { size in
        let client = try fixture.client()
        let start = Self.head + "Content-Length: 50\r\nX: "
        client.send(start + String(repeating: "a", count: size - start.utf8.count - 4) + "\r\n\r\n")
        return client
      }
      Self.expectRest(fixture, "\(clients.count) heads")
    }
  }
}

extension ServerTests.TLS {
  @Test("The loop rests over TLS, too, whatever a client sends", arguments: ServerTests.Turns.inputs.prefix(7))
  func rest(name: String, bytes: String) throws {
    let identity = try identity("localhost")
    let fixture = try Fixture(configure: { $0.identity = identity })
    let client = try SecureClient(fixture.address, version: "TLS1.3")
    try client.shakeHands()
    try client.send(bytes)
    ServerTests.Turns.expectRest(fixture, "\(name)")
  }
}
