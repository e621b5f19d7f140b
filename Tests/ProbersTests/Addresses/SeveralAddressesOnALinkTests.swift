import Glibc
import HostResolver
import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// Several addresses in a namespace with a real link.
@Suite("Several addresses on a link", .enabled(if: Namespace.isSupported))
struct SeveralAddressesOnALinkTests {
  private func check(
    _ text: String, in namespace: Namespace, resolving addresses: [[UInt8]], _ options: CheckModule.Options? = nil,
    addresses selection: CheckAddressSelection = .any, timeout: Duration = patience
  ) throws -> CheckResult {
    var request = try request(text, options, timeout: timeout)
    request.module.addresses = selection
    let asked = request
    let result = Locked<CheckResult?>(nil)
    try namespace.run {
      let dns = try DNSServer { _, _ in .addresses(addresses) }
      let resolver = Resolver(.init(servers: [dns.address], resolvConfPath: "/dev/null"))
      let prober = SocketProber(resolver: resolver)
      prober.check(asked) { found in result.withLock { $0 = found } }
      _ = eventually { result.withLock { $0 } != nil }
      prober.stop()
      resolver.stop()
      dns.stop()
    }
    return try #require(result.withLock { $0 })
  }

  private static func octets(_ text: String) -> [UInt8] { IPAddress(text)?.octets ?? [] }

  @Test("The first echo reply counts")
  func echoes() throws {
    let pair = try VethPair()
    // A host that receives requests and does not answer.
    try pair.router.ip("addr add 10.9.0.3/24 dev r0")
    try pair.router.ip("rule add blackhole from 10.9.0.3")
    let addresses = ["10.9.0.3", "10.9.0.1"].map(Self.octets)
    let result = try check(
      "icmp://two.test", in: pair.client, resolving: addresses, .icmp(ICMPOptions(count: 3, spacing: .milliseconds(5))))
    #expect(result.state == .up && result.address == IPAddress("10.9.0.1"), "\(result)")
    #expect(result.evidence.icmp?.sent == 3 && result.evidence.icmp?.received == 3)
  }

  @Test("The address that does not answer echo requests, if all must", arguments: [CheckAddressSelection.all, .first])
  func silentEchoes(selection: CheckAddressSelection) throws {
    let pair = try VethPair()
    try pair.router.ip("addr add 10.9.0.3/24 dev r0")
    try pair.router.ip("rule add blackhole from 10.9.0.3")
    let result = try check(
      "icmp://two.test", in: pair.client, resolving: ["10.9.0.3", "10.9.0.1"].map(Self.octets), addresses: selection,
      timeout: .seconds(1))
    #expect(result.state == .down && result.reason == .noReply && result.address == IPAddress("10.9.0.3"), "\(result)")
    #expect(result.evidence.attempts.map(\.state) == (selection == .all ? [.down, .up] : []))
  }

  @Test("An address whose route is refused locally")
  func refusedRoute() throws {
    let pair = try VethPair()
    try pair.client.ip("route add unreachable 10.77.0.0/16")
    let result = try check(
      "icmp://two.test", in: pair.client, resolving: ["10.77.0.1", "10.9.0.1"].map(Self.octets))
    #expect(result.state == .up && result.address == IPAddress("10.9.0.1"), "\(result)")
  }
}
