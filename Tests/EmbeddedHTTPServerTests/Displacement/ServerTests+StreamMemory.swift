import EventStreams
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Memory of streams")
  struct StreamMemory {
    private static let limit = 16 * Limits.connectionBytes
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// More streams than the memory has room for, one after the other.
    private func open(_ fixture: Fixture, _ request: String) throws -> [RawClient] {
      try (0..<2 * Self.limit / Limits.streamBytes).map { number in
        let client = try fixture.client()
        client.send(request)
        try #require(fixture.eventually { $0.requests == number + 1 }, "\(fixture.server.counters)")
        return client
      }
    }

    @Test(
      "Streams leave memory for requests", arguments: HTTPStreamMode.both,
      [request, "GET / HTTP/1.0\r\nHost: a\r\n\r\n"])
    func requests(mode: HTTPStreamMode, request: String) throws {
      let log = EventLog()
      let fixture = try Fixture(mode, configure: { $0.memory = .init(Self.limit) }) { request in
        request.path == "/livez" ? Fixture.echo(request) : Fixture.follow(log)(request)
      }
      let clients = try open(fixture, request)
      #expect(fixture.server.counters.streams >= 8, "most of the memory is for streams")
      // The last one is refused with a response.
      #expect(try clients.last?.response().status == 503)
      for _ in 0..<3 {
        let client = try fixture.client()
        client.send("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try client.response().status == 200)
      }
      // A stream that was closed leaves its place to another one.
      clients.forEach { $0.close() }
      log.append(id: 1, kind: 0, bytes: Array("one\n".utf8))
      #expect(fixture.eventually { $0.streams == 0 && $0.connections == 0 && $0.memory == 0 })
      let client = try fixture.client()
      client.send(Self.request)
      try client.head()
      try client.body(until: "hello\n")
    }

    @Test("TLS streams leave memory for requests")
    func secureRequests() throws {
      let identity = try TLS().identity("localhost")
      let log = EventLog()
      let room = 32
      let fixture = try Fixture(configure: {
        $0.identity = identity
        $0.memory = .init(room * Limits.secureConnectionBytes)
      }) { request in request.path == "/livez" ? Fixture.echo(request) : Fixture.follow(log)(request) }
      func client(_ request: String) throws -> SecureClient {
        let client = try SecureClient(fixture.address)
        try client.shakeHands()
        try client.send(request)
        return client
      }
      var clients: [SecureClient] = []
      for number in 0..<room + room / 4 {
        clients.append(try client(Self.request))
        try #require(fixture.eventually { $0.requests == number + 1 }, "\(fixture.server.counters)")
      }
      #expect(fixture.server.counters.streams > room / 2)
      let last = try client("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(try last.receiveAll().hasPrefix("HTTP/1.1 200 "))
      withExtendedLifetime(clients) {}
    }

    @Test("Streams by callback whose clients do not read are ended when memory is used up")
    func stalledStreams() throws {
      let log = EventLog()
      let count = Limits.auditedConnections
      let fixture = try Fixture(
        .callback,
        configure: {
          $0.memory = .init(2 * count * Limits.connectionBytes)
          // libmicrohttpd would close them for it.
          $0.inactivity = .seconds(600)
        }, handler: Fixture.follow(log))
      func stream(receiveBuffer: Int32?) throws -> RawClient {
        let client = try RawClient(fixture.address, receiveBuffer: receiveBuffer)
        client.send(Self.request)
        try client.head()
        try client.body(until: "hello\n")
        return client
      }
      let stalled = try (0..<count).map { _ in try stream(receiveBuffer: 2_048) }
      let reading = try stream(receiveBuffer: nil)
      let frame = [UInt8](repeating: 0x61, count: 10_000)
      for id in 1...20 { log.append(id: UInt64(id), kind: 0, bytes: frame) }
      log.append(id: 21, kind: 0, bytes: Array("one\n".utf8))
      try reading.body(until: "one\n")
      #expect(
        fixture.eventually { $0.displaced > 0 && $0.memory <= $0.memoryLimit && $0.streams < count },
        "\(fixture.server.counters)")
      log.append(id: 22, kind: 0, bytes: Array("two\n".utf8))
      try reading.body(until: "two\n")
      stalled.forEach { $0.close() }
      #expect(fixture.eventually { $0.streams == 1 })
    }
  }
}
