import HostResolver
import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// What routers report about a destination ends a check before its timeout.
@Suite("ICMP errors", .enabled(if: Namespace.isSupported))
struct UnreachableTests {
  private func check(_ text: String, in namespace: Namespace) throws -> CheckResult {
    // The timeout is longer than the test waits.
    let asked = try request(text, timeout: .seconds(300))
    let result = Locked<CheckResult?>(nil)
    namespace.run {
      let resolver = Resolver()
      let prober = SocketProber(resolver: resolver)
      prober.check(asked) { found in result.withLock { $0 = found } }
      _ = eventually { result.withLock { $0 } != nil }
      prober.stop()
      resolver.stop()
    }
    return try #require(result.withLock { $0 })
  }

  @Test(arguments: [
    ("unreachable", Reason.hostUnreachable), ("prohibit", .hostUnreachable), ("throw", .networkUnreachable),
  ])
  func aNameServerThatARouterCannotReach(type: String, reason: Reason) throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    try pair.router.ip("route add \(type) 198.51.100.0/24")
    let result = try check("dns://198.51.100.53/host.test", in: pair.client)
    #expect(result.state == .down && result.reason == reason, "\(result)")
  }

  @Test func aNameServerThatDoesNotExistOnTheLink() throws {
    let pair = try VethPair()
    for server in ["10.9.0.53", "[fd09::53]"] {
      let result = try check("dns://\(server)/host.test", in: pair.client)
      #expect(result.state == .down && result.reason == .hostUnreachable, "\(result)")
    }
  }

  @Test(.enabled(if: TunDevice.isSupported), arguments: ["tcp://198.51.100.1:80", "dns://198.51.100.1/host.test"])
  func sourceRouteFailed(target: String) throws {
    let namespace = try Namespace()
    let device = try TunDevice("tun0", in: namespace)
    try namespace.ip(batch: ["addr add 10.9.0.2/24 dev tun0", "link set tun0 up", "route add default dev tun0"])
    device.refuse(code: 5, count: 8)
    let result = try check(target, in: namespace)
    #expect(result.state == .down && result.reason == .hostUnreachable, "\(result)")
    #expect(result.detail?.contains("source route failed") == true, "\(result)")
  }
}
