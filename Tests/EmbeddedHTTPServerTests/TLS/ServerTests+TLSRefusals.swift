import Glibc
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests.TLS {
  /// Requests that libmicrohttpd takes no answer to, and the status that each gets all the same.
  static let unanswerable: [(request: String, status: Int)] = [
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 20_000))\r\n\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 1000))\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: Limits.connectionMemory - 142))\r\n\r\n", 431),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: abc\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n"
        + String(repeating: "a", count: 0x20000) + "\r\n", 411
    ),
    ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;e=" + String(repeating: "a", count: 16000), 411),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: ", 408),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 408),
  ]

  @Test(
    "Direct refusals are answered over TLS, too", arguments: [nil, "TLS1.3", "TLS1.2"])
  func refusedPastLibrary(version: String?) throws {
    let identity = try version.map { _ in try self.identity("localhost") }
    for (request, status) in Self.unanswerable {
      let fixture = try Fixture(configure: {
        $0.identity = identity
        if status == 408 { ($0.requestHeadTime, $0.requestBodyTime) = (.milliseconds(300), .milliseconds(300)) }
      })
      let answer: String
      if let version {
        let client = try SecureClient(fixture.address, version: version)
        try client.shakeHands()
        try client.send(request)
        answer = try client.receiveAll()
        #expect(client.endedProperly, "\(status): \(request.prefix(80))")
      } else {
        answer = try fixture.exchange(request)
      }
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(80)): \(answer)")
      #expect(answer.components(of: "HTTP/1.1 ") == 1 && !answer.contains("<html>"), "\(answer)")
      #expect(answer.contains("\r\nConnection: close\r\n"), "\(answer)")
    }
  }

  @Test("A handshake during a stop is answered", arguments: ["TLS1.3", "TLS1.2"])
  func lastHandshake(version: String) throws {
    let identity = try identity("localhost")
    let fixture = try Fixture(configure: {
      $0.identity = identity
      // Longer than any pause of this process on a busy machine: the handshake is in time.
      $0.lastRequestTime = .seconds(60)
    })
    var client = try SecureClient(fixture.address, version: version)
    // Where a server answers at once, the first step may be the last: such a client is not half-way.
    while try client.step() { client = try SecureClient(fixture.address, version: version) }
    try client.waitForBytes()
    let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(120)) }
    fixture.waitUntilRefusing()
    try client.shakeHands()
    try client.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.receiveAll().hasSuffix("GET /last [] a "))
    stopped()
  }

  @Test("An unfinished handshake does not delay a stop")
  func endlessHandshake() throws {
    let identity = try identity("localhost")
    let fixture = try Fixture(configure: {
      $0.identity = identity
      $0.requestHeadTime = .seconds(120)
    })
    let client = try SecureClient(fixture.address)
    try client.step()
    #expect(fixture.eventually { $0.connections == 1 })
    let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(120)) }
    #expect(fixture.eventually { _ in !fixture.server.isServing })
    stopped()
  }
}
