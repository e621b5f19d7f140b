import EventLoop
import EventStreams
import Glibc
import Locks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

// Clients that do not read their responses.
extension ServerTests.Displacement {
  @Test("Responses in the socket's buffer that a client does not read are counted")
  func unreadOutput() throws {
    let fixture = try fixture(room: 64)
    let client = try RawClient(fixture.address, receiveBuffer: 2_048)
    for _ in 0..<20 { client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n") }
    #expect(fixture.eventually { $0.memory > 2 * Limits.uncheckedOutput })
    for _ in 0..<20 { #expect(try client.response().body.count == 7_000) }
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try client.response()
    client.close()
    #expect(fixture.eventually { $0.memory == 0 })
  }

  @Test("A closed connection's response that its client does not read is counted, and then discarded")
  func unsentResponses() throws {
    let body = [UInt8](repeating: 0x61, count: 400_000)
    let fixture = try Fixture(configure: {
      $0.memory = .init(3_000_000)
      $0.inactivity = .seconds(1)
    }) { _ in .now(HTTPResponse(headers: ["Connection": "close"], body: .bytes(body))) }
    var clients: [RawClient] = []
    for _ in 0..<20 {
      let client = try RawClient(fixture.address, receiveBuffer: 2_048)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      clients.append(client)
    }
    // As many as the memory permits; the others were reset.
    #expect(fixture.eventually { $0.requests == 20 && $0.memory > 500_000 && $0.memory <= 3_000_000 })
    let isWhole = clients.map { client in (try? client.response())?.body.count == body.count }
    #expect(isWhole.contains(false))
    #expect(fixture.eventually { $0.connections == 0 && $0.memory == 0 })
  }

  @Test("A client that reads slowly receives the whole response after the connection was closed")
  func slowReader() throws {
    let body = [UInt8](repeating: 0x61, count: 300_000)
    let fixture = try Fixture.serving { _ in
      .now(HTTPResponse(headers: ["Connection": "close"], body: .bytes(body)))
    }
    let client = try RawClient(fixture.address, receiveBuffer: 2_048)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(fixture.eventually { $0.requests == 1 && $0.connections == 0 })
    #expect(fixture.server.counters.memory > 100_000)
    #expect(try client.response().body.count == body.count)
    #expect(try client.receiveAll().isEmpty)
    #expect(fixture.eventually { $0.memory == 0 })
  }

  @Test("Ended clients that do not read leave nothing in the kernel", arguments: ["GET /wait", "GET /long"])
  func discardedOutput(last: String) throws {
    let fixture = try fixture(room: 20)
    let client = try RawClient(fixture.address, receiveBuffer: 2_048)
    for _ in 0..<10 { client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n") }
    client.send("\(last) HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(fixture.eventually { $0.memory > 2 * Limits.uncheckedOutput })
    let others = try (0..<40).map { _ in
      let other = try fixture.client()
      other.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
      return other
    }
    #expect(fixture.eventually { $0.displaced > 20 })
    // The reset discards what the client has not read.
    while (try? client.receive()) == true {}
    #expect(client.received.count < 10 * 7_000)
    others.forEach { $0.close() }
  }

  @Test("Clients that do not read are ended first")
  func unreadResponses() throws {
    let fixture = try fixture(room: 64)
    let clients = try (0..<40).map { _ in
      let client = try RawClient(fixture.address, receiveBuffer: 2_048)
      for _ in 0..<10 { client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n") }
      return client
    }
    #expect(fixture.eventually { $0.displaced > 0 && $0.memory <= $0.memoryLimit })
    try expectService(fixture)
    clients.forEach { $0.close() }
  }

  @Test("A client with pipelined requests that does not read is ended before a newer connection")
  func pipelinedResponses() throws {
    let megabyte = 1 << 20
    // The buffers of the two sockets hold less than one response.
    let body = [UInt8](repeating: 0x61, count: 24 * megabyte)
    let fixture = try Fixture(configure: { $0.memory = .init(60 * megabyte) }) { request in
      request.path == "/livez" ? Fixture.echo(request) : .now(HTTPResponse(body: .bytes(body)))
    }
    func client(_ requests: Int) throws -> RawClient {
      let client = try RawClient(fixture.address, receiveBuffer: 32_768)
      for _ in 0..<requests { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
      try client.receive(until: "\r\n\r\n")
      return client
    }
    let pipelining = try client(3)
    let new = try fixture.client()
    new.send("GET /livez HTTP/1.1\r\n")
    #expect(fixture.eventually { $0.connections == 2 })
    // Its next response begins before it has received all of the first one.
    while fixture.server.counters.requests < 2 {
      _ = try pipelining.take(megabyte)
      // A server that gets no processor time must not find all of its bytes received.
      TestSupport.eventually(within: .milliseconds(20)) { fixture.server.counters.requests == 2 }
    }
    let others = try (0..<2).map { _ in try client(1) }
    #expect(fixture.eventually { $0.displaced > 0 })
    new.send("Host: a\r\n\r\n")
    #expect(try new.response().status == 200)
    for other in others { #expect(try other.take(body.count).count == body.count) }
  }

  @Test("A client that sends while its response is due fills no more than a small buffer")
  func pipelinedInput() throws {
    let fixture = try fixture()
    let client = try fixture.client()
    client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(fixture.eventually { $0.waiting == 1 })
    let before = fixture.server.counters.memory
    // A blocking send would wait for the response.
    let request = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    let flood = [UInt8]((0..<40_000).map { request[$0 % request.count] })
    var sent = 0
    let isCounted = fixture.eventually { counters in
      let count = unsafe flood[sent...].withUnsafeBytes {
        unsafe Glibc.send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      }
      sent += max(0, count)
      return sent >= 2 * Limits.freeSocketBytes && counters.memory >= before + Limits.freeSocketBytes
    }
    #expect(isCounted)
    client.close()
    #expect(fixture.eventually { $0.connections == 0 && $0.memory == 0 })
  }

  @Test("Requests that were pipelined behind a long poll are answered after it")
  func pipelinedRequests() throws {
    let promises = Locked<[HTTPPromise]>([])
    let fixture = try Fixture.serving { request in
      guard request.path == "/wait" else { return Fixture.echo(request) }
      return .later { promise in promises.withLock { $0.append(promise) } }
    }
    let client = try fixture.client()
    client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(fixture.eventually { $0.requests == 1 })
    let count = 1_000
    let join = onThread { [descriptor = client.descriptor] in
      let bytes = Array(String(repeating: "GET /next HTTP/1.1\r\nHost: a\r\n\r\n", count: count).utf8)
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = unsafe rest.withUnsafeBytes {
          unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { return }
        rest = rest.dropFirst(sent)
      }
    }
    #expect(fixture.eventually { $0.memory > 2 * Limits.connectionBytes })
    promises.withLock(\.self).first?.fulfil(HTTPResponse(body: .bytes(Array("first".utf8))))
    #expect(try client.response().text == "first")
    for _ in 0..<count { #expect(try client.response().text.hasPrefix("GET /next")) }
    join()
  }
}
