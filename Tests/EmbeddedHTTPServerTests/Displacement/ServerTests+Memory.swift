import Glibc
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Memory of bodies")
  struct Memory {
    private static let megabyte = 1 << 20

    @Test("Unread responses beyond the limit end the oldest connections")
    func unreadResponses() throws {
      // The buffers of the two sockets hold less than one response.
      let body = [UInt8](repeating: 0x61, count: 24 * Self.megabyte)
      let fixture = try Fixture(configure: { $0.memory = .init(60 * Self.megabyte) }) { _ in
        .now(HTTPResponse(body: .bytes(body)))
      }
      let clients = try (0..<4).map { _ in
        let client = try RawClient(fixture.address, receiveBuffer: 32_768)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.receive(until: "\r\n\r\n")
        return client
      }
      for client in clients[..<2] { #expect(try client.receiveAll().utf8.count < body.count) }
      for client in clients[2...] { #expect(try client.take(body.count).count == body.count) }
      #expect(fixture.server.counters.displaced == 2)
      // A response that is longer than the limit is sent if it is the only one.
      #expect(fixture.eventually { $0.connections == 2 })
      clients[3].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try clients[3].response().body.count == body.count)
    }

    @Test("A response longer than the limit is sent")
    func longResponse() throws {
      let body = [UInt8](repeating: 0x61, count: 2 * Self.megabyte)
      let fixture = try Fixture(configure: { $0.memory = .init(Self.megabyte) }) { _ in
        .now(HTTPResponse(body: .bytes(body)))
      }
      let client = try fixture.client()
      for _ in 0..<3 {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().body.count == body.count)
      }
    }

    @Test("Incomplete bodies beyond the limit are refused")
    func incompleteBodies() throws {
      let fixture = try Fixture(configure: { $0.memory = .init(150_000) })
      let part = String(repeating: "a", count: 40_000)
      func begin(_ client: RawClient) {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40001\r\n\r\n\(part)")
      }
      let clients = try (0..<4).map { _ in try fixture.client() }
      clients.forEach(begin)
      #expect(fixture.eventually { $0.displaced == 2 })
      // The server reads the four connections in any order.
      let isRefused = clients.map { client in
        var ready = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&ready, 1, 0) == 1
      }
      #expect(isRefused.count { $0 } == 2)
      for (client, isRefused) in zip(clients, isRefused) {
        if !isRefused { client.send("b") }
        // A client that is sending may lose the refusal to a reset.
        let response = isRefused ? try? client.response() : try client.response()
        #expect(response?.status ?? 408 == (isRefused ? 408 : 200))
      }
      // What the completed bodies occupied is available again.
      for (client, isRefused) in zip(clients, isRefused) where !isRefused {
        begin(client)
        client.send("b")
        #expect(try client.response().status == 200)
      }
      #expect(fixture.server.counters.displaced == 2)
    }
  }
}
