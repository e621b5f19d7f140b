import Glibc
import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// Which of several addresses are contacted: routes, policies, redirects.
@Suite("Rules for several addresses")
struct AddressRulesTests {
  private static let addresses: [[UInt8]] = [[127, 0, 0, 2], [127, 0, 0, 1]]

  private func dns(_ addresses: [[UInt8]] = addresses) throws -> DNSServer {
    try DNSServer { _, type in .addresses(addresses.filter { $0.count == (type == DNSMessage.a ? 4 : 16) }) }
  }

  private func check(
    _ text: String, _ selection: CheckAddressSelection, _ options: CheckModule.Options? = nil, asking dns: DNSServer,
    policy: ContactPolicy? = nil, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision
  ) async throws -> CheckResult {
    var request = try request(text, options, policy: policy)
    request.module.addresses = selection
    let prober = ProberUnderTest(asking: [dns])
    let results = Results()
    prober.prober.check(request, where: decision, results.take)
    return try await results.wait(for: 1)[0]
  }

  @Test("Addresses without a route are not contacted", arguments: CheckAddressSelection.allCases)
  func withoutRoute(selection: CheckAddressSelection) async throws {
    let first = try TCPServer(host: 2, TCPServer.untilClosed)
    let second = try TCPServer(port: first.port, TCPServer.untilClosed)
    let dns = try dns()
    defer { dns.stop() }
    let result = try await check("tcp://two.test:\(first.port)", selection, .tcp(TCPOptions(send: "x")), asking: dns) {
      address, _ in
      address == IPAddress("127.0.0.2") ? .noRoute : .allowed
    }
    #expect(first.connections == 0)
    if selection == .all {
      #expect(result.state == .unreachable && result.reason == .noRoute, "\(result)")
      #expect(result.address == IPAddress("127.0.0.2"))
      #expect(result.evidence.attempts.map(\.state) == [.unreachable, .up])
    } else {
      #expect(result.state == .up && result.address == IPAddress("127.0.0.1"), "\(result)")
      #expect(result.evidence.attempts.isEmpty)
    }
    try await waitUntil { second.connections == 1 }
  }

  @Test("A family without a route is left out")
  func family() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let six: [UInt8] = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
    let dns = try dns([six, [127, 0, 0, 1]])
    defer { dns.stop() }
    let result = try await check("tcp://two.test:\(server.port)", .all, asking: dns) { address, _ in
      address.family == .ipv6 ? .noRoute : .allowed
    }
    #expect(result.state == .up && result.address == IPAddress("127.0.0.1"), "\(result)")
    let none = try await check("tcp://two.test:\(server.port)", .all, asking: dns) { _, _ in .noRoute }
    #expect(none.state == .unreachable && none.reason == .noRoute, "\(none)")
  }

  @Test("Denied addresses are not contacted and not named", arguments: CheckAddressSelection.allCases)
  func denied(selection: CheckAddressSelection) async throws {
    let first = try TCPServer(host: 2, TCPServer.untilClosed)
    let second = try TCPServer(port: first.port, TCPServer.untilClosed)
    let dns = try dns()
    defer { dns.stop() }
    let result = try await check("tcp://two.test:\(first.port)", selection, .tcp(TCPOptions(send: "x")), asking: dns) {
      address, _ in
      address == IPAddress("127.0.0.2") ? .denied : .allowed
    }
    #expect(result.state == .up && result.address == IPAddress("127.0.0.1"), "\(result)")
    #expect(result.evidence.attempts.isEmpty)
    #expect(first.connections == 0)
    try await waitUntil { second.connections == 1 }
    let all = try await check("tcp://two.test:\(first.port)", selection, asking: dns) { _, _ in .denied }
    #expect(all.reason == .policyDenied && all.address == nil && all.evidence.attempts.isEmpty, "\(all)")
  }

  @Test("A denied redirect names no addresses")
  func deniedRedirect() async throws {
    let server = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "http://192.0.2.1/")])
    let dns = try dns()
    defer { dns.stop() }
    var options = HTTPOptions()
    options.maximumRedirects = 1
    for selection in CheckAddressSelection.allCases where selection != .first {
      let result = try await check(
        "http://two.test:\(server.port)/", selection, .http(options), asking: dns
      ) { address, _ in address == IPAddress("192.0.2.1") ? .denied : .allowed }
      // With all addresses, the one without a listener decides as well.
      #expect(result.reason == .policyDenied, "\(result)")
      #expect(result.evidence.attempts.isEmpty && result.address == nil)
    }
  }

  @Test("A redirect's host none of whose addresses answers")
  func failedRedirect() async throws {
    let port = try Loopback.closedPort()
    let server = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "http://two.test:\(port)/")])
    let dns = try dns()
    defer { dns.stop() }
    var options = HTTPOptions()
    options.maximumRedirects = 1
    let result = try await check("http://127.0.0.1:\(server.port)/", .any, .http(options), asking: dns) { _, _ in
      .allowed
    }
    #expect(result.state == .down && result.reason == .refused, "\(result)")
    #expect(result.evidence.attempts.map(\.reason) == [.refused, .refused])
    #expect(result.evidence.http?.status == 302)
  }

  @Test("Each address follows its own redirects")
  func allRedirects() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "/next"), "/next": ScriptedWeb.well])
    let other = try ScriptedWeb(
      host: 2, port: web.port, ["/": ScriptedWeb.redirect(302, "/next"), "/next": ScriptedWeb.well])
    let dns = try dns()
    defer { dns.stop() }
    var options = HTTPOptions()
    options.maximumRedirects = 1
    let result = try await check("http://two.test:\(web.port)/", .all, .http(options), asking: dns) { _, _ in .allowed }
    #expect(result.state == .up && result.evidence.attempts.map(\.evidence.http?.redirects) == [1, 1], "\(result)")
    #expect(web.requests.count + other.requests.count == 4)
  }

  @Test("One address is checked alone", arguments: CheckAddressSelection.allCases)
  func oneAddress(selection: CheckAddressSelection) async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let dns = try dns([[127, 0, 0, 1]])
    defer { dns.stop() }
    let result = try await check("tcp://one.test:\(server.port)", selection, asking: dns) { _, _ in .allowed }
    #expect(
      result.state == .up && result.evidence.attempts.isEmpty && result.phases.map(\.name) == [.resolve, .connect])
  }

  @Test("At most sixteen addresses are contacted", arguments: [CheckAddressSelection.any, .all])
  func limit(selection: CheckAddressSelection) async throws {
    let dns = try dns((2...40).map { [127, 0, 0, $0] })
    defer { dns.stop() }
    let result = try await check("tcp://many.test:\(Loopback.closedPort())", selection, asking: dns) { _, _ in .allowed
    }
    #expect(result.state == .down && result.reason == .refused)
    #expect(result.evidence.attempts.count == 16)
    #expect(result.detail?.hasSuffix("; 12 more") == true, "\(result)")
  }

  @Test("More checks of every address than may run at the same time")
  func manyChecks() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let dns = try dns([[127, 0, 0, 1], [127, 0, 0, 2]])
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let results = Results()
    var request = try request("tcp://two.test:\(server.port)")
    request.module.addresses = .all
    for _ in 0..<200 { prober.prober.check(request, results.take) }
    let all = try await results.wait(for: 200)
    #expect(
      all.allSatisfy {
        $0.state == .down && $0.reason == .refused && $0.evidence.attempts.map(\.state) == [.up, .down]
      })
  }
}
