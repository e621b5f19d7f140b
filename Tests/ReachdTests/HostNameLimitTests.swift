import TestSupport
import Testing

/// The queries that a client of the service causes at the name servers.
@Suite struct HostNameLimitTests {
  private func status(_ service: RunningService, _ path: String, _ options: String = "") throws -> String {
    try Program.shell("curl -s -o /dev/null -m 5 -w '%{http_code}' \(options) '\(service.url)\(path)' || true").output
  }

  @Test func everyNameOfAStreamIsCounted() throws {
    let server = try DNSServer { _, _ in .addresses([[192, 0, 2, 1]], timeToLive: 1) }
    defer { server.stop() }
    let service = try RunningService(environment: ["REACHD_RESOLVER_SERVERS": server.address])
    let port = try #require(service.url.split(separator: ":").last.flatMap { UInt16($0) })
    let streams = try (0..<8).map { stream in
      let query = (0..<64).map { "host=h\($0).s\(stream).test." }.joined(separator: "&")
      let connection = try RawConnection(to: port)
      connection.send("GET /events?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return connection
    }
    let statuses = streams.map { $0.status() }
    #expect(statuses.count { $0 == "429" } >= 6 && statuses.contains("200"), "\(statuses)")
    #expect(eventually { server.total >= 128 })
    // One stream is served, and perhaps one more after some seconds: 1,024 queries for all of them.
    #expect(server.total <= 256)
    #expect(try status(service, "/hosts/10.0.0.1") == "200")
    #expect(try service.terminate() == .exited(0))
  }

  @Test func lookupsOfOneClientAreCounted() throws {
    let server = try DNSServer { _, _ in .addresses([[192, 0, 2, 1]], timeToLive: 1) }
    defer { server.stop() }
    let service = try RunningService(environment: ["REACHD_RESOLVER_SERVERS": server.address])
    let urls = (0..<300).map { "\(service.url)/hosts/h\($0).test." }
    let (_, output, _) = try Program.shell(
      "curl -s -w '%{http_code}\\n' \(urls.map { "-o /dev/null \($0)" }.joined(separator: " "))")
    let statuses = output.split(separator: "\n")
    let (served, refused) = (statuses.count { $0 == "200" }, statuses.count { $0 == "429" })
    #expect(served + refused == 300 && refused > 0, "\(served) served")
    // On a busy machine the resolver repeats queries.
    #expect(server.total <= 3 * served)
    #expect(try status(service, "/hosts/h1.test.?resolve=none") == "200")
    #expect(try service.terminate() == .exited(0))
  }
}
