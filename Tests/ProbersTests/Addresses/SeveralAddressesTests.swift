import Glibc
import HostResolver
import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// A host with several addresses is up if one of them can be contacted, in the order of the resolver.
@Suite("Several addresses")
struct SeveralAddressesTests {
  /// 127.0.0.2, where no test server listens, before the address of the servers.
  private static let refusedFirst: [[UInt8]] = [[127, 0, 0, 2], [127, 0, 0, 1]]

  private func dns(_ addresses: [[UInt8]] = refusedFirst) throws -> DNSServer {
    try DNSServer { _, type in .addresses(type == DNSMessage.a ? addresses : []) }
  }

  /// A listener at 127.0.0.2 whose queue is full: it drops further connection requests (listen(2)).
  private func silentListener(_ port: UInt16) throws -> [Int32] {
    let (listener, _) = try Loopback.bound(.stream, host: 2, port: port)
    guard listen(listener, 0) == 0 else { throw Loopback.Failure(operation: "listen") }
    return try [listener] + (0..<4).map { _ in try Loopback.connecting(to: port, host: 2) }
  }

  @Test("A refused first address", arguments: ["tcp", "http"])
  func refused(scheme: String) async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let dns = try dns()
    defer { dns.stop() }
    let result = try await ProberUnderTest(asking: [dns]).check("\(scheme)://two.test:\(web.port)")
    #expect(result.state == .up, "\(result)")
    #expect(result.address == IPAddress("127.0.0.1"))
  }

  @Test("A first address that does not respond", arguments: ["tcp", "http"])
  func silent(scheme: String) async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let descriptors = try silentListener(web.port)
    defer { for descriptor in descriptors { close(descriptor) } }
    let dns = try dns()
    defer { dns.stop() }
    let result = try await ProberUnderTest(asking: [dns]).check("\(scheme)://two.test:\(web.port)")
    #expect(result.state == .up, "\(result)")
    #expect(result.address == IPAddress("127.0.0.1"))
  }

  @Test("A TLS server at the second address")
  func tls() async throws {
    let certificates = try Certificates()
    let server = try TLSServer(
      certificate: "\(certificates.directory)/good.pem", key: "\(certificates.directory)/good.key"
    ) { $0.awaitClose() }
    let dns = try dns()
    defer { dns.stop() }
    var options = TLSOptions()
    options.verify = false
    let result = try await ProberUnderTest(asking: [dns]).check("tls://two.test:\(server.port)", .tls(options))
    #expect(result.state == .up, "\(result)")
    #expect(result.evidence.tls?.version.isEmpty == false)
  }

  @Test("The response of the first connection counts")
  func firstConnectionCounts() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let failing = try TCPServer(host: 2, port: web.port) { peer in
      _ = Loopback.receive(4_096, from: peer)
      Loopback.send(Array("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".utf8), to: peer)
    }
    let dns = try dns()
    defer { dns.stop() }
    let result = try await ProberUnderTest(asking: [dns]).check("http://two.test:\(web.port)/")
    #expect(result.state == .down && result.reason == .httpStatus, "\(result)")
    #expect(result.address == IPAddress("127.0.0.2"))
    #expect(failing.connections == 1 && web.requests.isEmpty)
  }

  @Test("A name server without a listener at its first address")
  func nameServer() async throws {
    let server = try DNSServer { _, _ in .addresses([[192, 0, 2, 1]]) }
    let dns = try dns()
    defer {
      server.stop()
      dns.stop()
    }
    for usesTCP in [false, true] {
      var options = DNSOptions()
      options.usesTCP = usesTCP
      let result = try await ProberUnderTest(asking: [dns]).check(
        "dns://two.test:\(server.port)/a.test", .dns(options))
      #expect(result.state == .up && result.address == IPAddress("127.0.0.1"), "\(result)")
    }
  }

  @Test("A name server whose first address is silent")
  func silentNameServer() async throws {
    let server = try DNSServer { _, _ in .addresses([[192, 0, 2, 1]]) }
    let (silent, _) = try Loopback.bound(.datagram, host: 2, port: server.port)
    defer { close(silent) }
    let dns = try dns()
    defer {
      server.stop()
      dns.stop()
    }
    let result = try await ProberUnderTest(asking: [dns]).check("dns://two.test:\(server.port)/a.test")
    #expect(result.state == .up && result.address == IPAddress("127.0.0.1"), "\(result)")
  }

  @Test("A redirect to a host whose first address refuses")
  func redirect() async throws {
    let web = try ScriptedWeb(["/page": ScriptedWeb.well])
    let first = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "http://two.test:\(web.port)/page")])
    let dns = try dns()
    defer { dns.stop() }
    var options = HTTPOptions()
    options.maximumRedirects = 1
    let result = try await ProberUnderTest(asking: [dns]).check("http://127.0.0.1:\(first.port)/", .http(options))
    #expect(result.state == .up, "\(result)")
    #expect(result.address == IPAddress("127.0.0.1"))
  }

  @Test("The evidence names each attempt")
  func evidence() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let dns = try dns()
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let up = try await prober.check("http://two.test:\(web.port)/")
    #expect(up.evidence.attempts.map(\.address.description) == ["127.0.0.2", "127.0.0.1"])
    #expect(up.evidence.attempts.map(\.state) == [.down, .up])
    #expect(up.evidence.attempts.map(\.reason) == [.refused, nil])
    // The response of the address that answered is not as expected.
    let missing = try await prober.check("http://two.test:\(web.port)/missing")
    #expect(missing.evidence.attempts.map(\.reason) == [.refused, .httpStatus])
    let closed = try await prober.check("tcp://two.test:\(Loopback.closedPort())")
    #expect(closed.state == .down && closed.reason == .refused && closed.address == IPAddress("127.0.0.2"))
    #expect(closed.evidence.attempts.map(\.reason) == [.refused, .refused])
    #expect(closed.detail?.contains("127.0.0.2") == true && closed.detail?.contains("127.0.0.1") == true)
    let one = try await prober.check("http://127.0.0.1:\(web.port)/")
    #expect(one.evidence.attempts.isEmpty)
  }

  @Test("An attempt without an answer is in the evidence of the timeout")
  func timeout() async throws {
    let port = try Loopback.closedPort()
    let descriptors = try silentListener(port)
    defer { for descriptor in descriptors { close(descriptor) } }
    let dns = try dns()
    defer { dns.stop() }
    let result = try await ProberUnderTest(asking: [dns]).check("tcp://two.test:\(port)", timeout: .seconds(1))
    #expect(result.state == .down && result.reason == .connectTimeout, "\(result)")
    #expect(result.evidence.attempts.map(\.reason) == [.connectTimeout, .refused])
  }

  @Test("Only the first address")
  func first() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let dns = try dns()
    defer { dns.stop() }
    var request = try request("tcp://two.test:\(server.port)")
    request.module.addresses = .first
    let result = try await ProberUnderTest(asking: [dns]).check(request)
    #expect(result.state == .down && result.reason == .refused && result.address == IPAddress("127.0.0.2"))
    #expect(server.connections == 0)
  }

  @Test("Every address must pass")
  func all() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well, "/half": ScriptedWeb.well])
    let other = try ScriptedWeb(host: 3, port: web.port, ["/": ScriptedWeb.well])
    let dns = try dns([[127, 0, 0, 1], [127, 0, 0, 3]])
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    func check(_ path: String) async throws -> CheckResult {
      var request = try request("http://two.test:\(web.port)\(path)")
      request.module.addresses = .all
      return try await prober.check(request)
    }
    let up = try await check("/")
    #expect(up.state == .up && up.address == IPAddress("127.0.0.1"), "\(up)")
    #expect(up.evidence.attempts.map(\.state) == [.up, .up])
    #expect(up.evidence.attempts.map(\.evidence.http?.status) == [200, 200])
    #expect(up.phases.first?.name == .resolve && up.duration(of: .processing) != nil)
    let half = try await check("/half")
    #expect(half.state == .down && half.reason == .httpStatus && half.address == IPAddress("127.0.0.3"), "\(half)")
    #expect(half.evidence.http?.status == 404)
    #expect(half.evidence.attempts.map(\.state) == [.up, .down])
    #expect(half.detail?.hasPrefix("1 of 2 addresses: 127.0.0.3: ") == true)
    #expect(web.requests.count == 2 && other.requests.count == 2)
  }

  @Test("Every address, none of which has a listener")
  func allRefused() async throws {
    let dns = try dns()
    defer { dns.stop() }
    var request = try request("tcp://two.test:\(Loopback.closedPort())")
    request.module.addresses = .all
    let result = try await ProberUnderTest(asking: [dns]).check(request)
    #expect(result.state == .down && result.reason == .refused, "\(result)")
    #expect(result.evidence.attempts.map(\.reason) == [.refused, .refused])
  }

  @Test("A cancelled check of every address")
  func cancelled() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let dns = try dns([[127, 0, 0, 1], [127, 0, 0, 2]])
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    var request = try request("tcp://two.test:\(server.port)", .tcp(TCPOptions(expect: "never")))
    request.module.addresses = .all
    let results = Results()
    let check = prober.prober.check(request, results.take)
    try await waitUntil { server.connections == 1 }
    check.cancel()
    let result = try await results.wait(for: 1)[0]
    #expect(result.state == .unknown && result.reason == .cancelled, "\(result)")
    #expect(try await prober.check("tcp://127.0.0.1:\(server.port)").state == .up)
  }

  @Test("More checks of a name than an address may have")
  func limit() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Array("READY".utf8), to: peer)
      TCPServer.untilClosed(peer)
    }
    let descriptors = try silentListener(server.port)
    defer { for descriptor in descriptors { close(descriptor) } }
    let dns = try dns()
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let results = Results()
    for index in 0..<100 {
      // Half of them contact the second address directly, and occupy its places.
      let host = index % 2 == 0 ? "two.test" : "127.0.0.1"
      let options = TCPOptions(expect: "READY")
      prober.prober.check(try request("tcp://\(host):\(server.port)", .tcp(options)), results.take)
    }
    let all = try await results.wait(for: 100)
    #expect(all.allSatisfy { $0.state == .up }, "\(all.filter { $0.state != .up })")
  }

  @Test("A timeout that is shorter than the delay between attempts")
  func shortTimeout() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let descriptors = try silentListener(web.port)
    defer { for descriptor in descriptors { close(descriptor) } }
    let dns = try dns()
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    // The answer of the name server is cached from now on.
    _ = try await prober.check("tcp://two.test:\(web.port)")
    let result = try await prober.check("tcp://two.test:\(web.port)", timeout: .milliseconds(200))
    #expect(result.state == .up, "\(result)")
  }
}
