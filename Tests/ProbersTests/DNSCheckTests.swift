import Probers
import ReachabilityModel
import TestSupport
import Testing

private let four: [UInt8] = [192, 0, 2, 1]
private let six: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
private let otherFour: [UInt8] = [192, 0, 2, 2]

@Suite("DNS checks")
struct DNSCheckTests {
  let prober = ProberUnderTest()

  private func ask(
    _ question: String = "host.test", timeout: Duration = patience, _ change: (inout DNSOptions) -> Void = { _ in },
    _ handler: @escaping DNSServer.Handler
  ) async throws -> CheckResult {
    let server = try DNSServer(handler)
    defer { server.stop() }
    var options = DNSOptions()
    change(&options)
    return try await prober.check("dns://\(server.address)/\(question)", .dns(options), timeout: timeout)
  }

  @Test func addresses() async throws {
    let result = try await ask { _, _ in .addresses([four, otherFour]) }
    #expect(result.state == .up)
    #expect(
      result.evidence.dns == CheckResult.DNS(code: "NOERROR", counts: [2, 0, 0], answers: ["192.0.2.1", "192.0.2.2"]))
    #expect(result.phases.map(\.name) == [.processing])
    #expect(result.source == IPAddress("127.0.0.1"))
    #expect(try await ask("host.test?type=AAAA") { _, _ in .addresses([six]) }.evidence.dns?.answers == ["2001:db8::1"])
  }

  @Test func aliases() async throws {
    let result = try await ask { _, _ in .aliased(["a.test", "b.test"], [four]) }
    #expect(result.evidence.dns?.answers == ["a.test.", "b.test.", "192.0.2.1"])
  }

  @Test func codes() async throws {
    let missing = try await ask { _, _ in .noSuchName }
    #expect(missing.state == .down)
    #expect(missing.reason == .dnsNotFound)
    #expect(missing.evidence.dns?.code == "NXDOMAIN")
    for reply in [DNSReply.serverFailure, .refused] {
      let result = try await ask { _, _ in reply }
      #expect(result.state == .down)
      #expect(result.reason == .dnsServerFailure)
    }
    #expect(try await ask("host.test", { $0.expectCodes = ["NXDOMAIN"] }) { _, _ in .noSuchName }.state == .up)
    #expect(
      try await ask("host.test", { $0.expectCodes = ["NXDOMAIN"] }) { _, _ in .noData }.reason == .dnsServerFailure)
  }

  @Test func expectedAnswer() async throws {
    let handler: DNSServer.Handler = { _, _ in .addresses([four]) }
    #expect(try await ask("host.test", { $0.expectAnswer = "^192\\.0\\.2\\." }, handler).state == .up)
    #expect(try await ask("host.test", { $0.expectAnswer = "^10\\." }, handler).reason == .noReply)
    #expect(try await ask("host.test", { $0.expectAnswer = "." }) { _, _ in .noData }.reason == .noReply)
  }

  @Test("An expected text may be in several strings")
  func textOfSeveralStrings() async throws {
    @Sendable func string(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
    let handler: DNSServer.Handler = { _, _ in
      .data([string("v=spf1 -all"), string("v=DKIM1; p=MIIB") + string("IjANBgkq") + string("hkiG9w0B")])
    }
    for pattern in ["p=MIIBIjANBgkqhkiG9w0B", "^\"v=DKIM1.*0B\"$", "\"v=DKIM1; p=MIIB\" \"IjANBgkq\"", "^\"v=spf1"] {
      let result = try await ask("host.test?type=TXT", { $0.expectAnswer = pattern }, handler)
      #expect(result.state == .up, "\(pattern): \(result)")
      #expect(result.evidence.dns?.answers.count == 2)
    }
    // Strings of different records are different texts.
    #expect(try await ask("host.test?type=TXT", { $0.expectAnswer = "-allv=" }, handler).reason == .noReply)
  }

  @Test("Every record of a long response is compared")
  func manyAnswers() async throws {
    let addresses = (0..<1_000).map { [10, 0, UInt8($0 >> 8), UInt8($0 & 0xff)] as [UInt8] }
    let result = try await ask("host.test", { $0.expectAnswer = "^10\\.0\\.3\\.231$" }) { _, _ in .truncated(addresses)
    }
    #expect(result.state == .up, "\(result.detail ?? "")")
    #expect(result.evidence.dns?.counts.first == 1_000 && result.evidence.dns?.answers.count == 256)
    let missing = try await ask("host.test", { $0.expectAnswer = "^10\\.0\\.4\\." }) { _, _ in .truncated(addresses) }
    #expect(missing.reason == .noReply && missing.detail?.contains("1000") == true, "\(missing)")
  }

  @Test func truncatedOverUDPIsAskedOverTCP() async throws {
    let result = try await ask { _, _ in .truncated([four]) }
    #expect(result.state == .up)
    #expect(result.evidence.dns?.answers == ["192.0.2.1"])
    #expect(result.phases.map(\.name) == [.connect, .processing])
  }

  @Test func overTCP() async throws {
    let result = try await ask("host.test", { $0.usesTCP = true }) { _, _ in .addresses([four]) }
    #expect(result.state == .up)
    #expect(result.phases.map(\.name) == [.connect, .processing])
    let options = CheckModule.Options.dns(
      {
        var options = DNSOptions(); options.usesTCP = true; return options
      }())
    #expect(try await prober.check("dns://127.0.0.1:\(Loopback.closedPort())/a", options).reason == .refused)
    let closing = try TCPServer { _ = Loopback.receive(1, from: $0) }
    #expect(try await prober.check("dns://127.0.0.1:\(closing.port)/a", options).reason == .reset)
    let babbling = try TCPServer {
      Loopback.send([0, 3, 1, 2, 3], to: $0); TCPServer.untilClosed($0)
    }
    #expect(try await prober.check("dns://127.0.0.1:\(babbling.port)/a", options).reason == .noReply)
    let silent = try TCPServer(TCPServer.untilClosed)
    let late = try await prober.check("dns://127.0.0.1:\(silent.port)/a", options, timeout: .milliseconds(200))
    #expect(late.reason == .timeout)
  }

  @Test func deadServer() async throws {
    let result = try await prober.check("dns://127.0.0.1:\(Loopback.closedPort())/host.test")
    #expect(result.state == .down)
    #expect(result.reason == .refused)
  }

  @Test func silentServer() async throws {
    let result = try await ask(timeout: .milliseconds(300)) { _, _ in .silence }
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
  }

  @Test(
    "Responses with another id and garbage are ignored", arguments: [DNSReply.wrongID([four]), .garbage])
  func lyingServer(reply: DNSReply) async throws {
    let result = try await ask(timeout: .milliseconds(300)) { _, _ in reply }
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
    #expect(result.evidence.dns == nil)
  }

  @Test func aPacketThatIsLostIsAskedForAgain() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let results = Results()
    prober.prober.check(try request("dns://\(server.address)/host.test"), results.take)
    try await waitUntil { server.count("host.test") > 0 }
    server.answer { _, _ in .addresses([four]) }
    #expect(try await results.wait(for: 1)[0].state == .up)
  }
}

@Suite("Resolution of a target's name")
struct NameCheckTests {
  private func check(_ reply: DNSReply, timeout: Duration = patience) async throws -> CheckResult {
    let dns = try DNSServer { _, _ in reply }
    defer { dns.stop() }
    return try await ProberUnderTest(asking: [dns]).check("tcp://host.test:1", timeout: timeout)
  }

  @Test func reasons() async throws {
    let missing = try await check(.noSuchName)
    #expect(missing.state == .down)
    #expect(missing.reason == .dnsNotFound)
    #expect(missing.phases.map(\.name) == [.resolve])
    let failing = try await check(.serverFailure)
    #expect(failing.state == .unknown)
    #expect(failing.reason == .dnsServerFailure)
    let silent = try await check(.silence, timeout: .milliseconds(300))
    #expect(silent.state == .unknown)
    #expect(silent.reason == .dnsTimeout)
  }

  @Test func aliasesThatGoRound() async throws {
    let result = try await check(.aliased(["a.test", "b.test", "a.test"], []))
    #expect(result.state == .down)
    #expect(result.reason == .dnsNotFound)
  }

  @Test func nameThatIsTruncatedComesOverTCP() async throws {
    #expect(try await check(.truncated([[127, 0, 0, 1]])).reason == .refused)
  }

  @Test func familyThatIsMissing() async throws {
    let dns = try DNSServer { _, _ in .addresses([[127, 0, 0, 1]]) }
    defer { dns.stop() }
    var asked = try request("tcp://host.test:1")
    asked.family = .ipv6
    let result = try await ProberUnderTest(asking: [dns]).check(asked)
    #expect(result.state == .down)
    #expect(result.reason == .dnsNotFound)
    #expect(result.detail?.contains("IPv6") == true)
  }
}
