import NetworkReachabilityTesting
import ReachabilityChecks
import Testing

extension CheckerTests {
  @Test(
    "Several addresses failed, and one of them has a route",
    arguments: [
      (["203.0.113.9", "10.0.0.9"], CheckResult.State.down), (["10.0.0.9", "203.0.113.9"], .down),
      (["203.0.113.9", "203.0.113.10"], .unreachable),
    ])
  func severalAddresses(addresses: [String], state: CheckResult.State) async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.follow { _ in
      var result = Self.result(.down, .connectTimeout, addresses[0])
      result.evidence.attempts = addresses.compactMap { text in
        IPAddress(text).map { CheckResult.Attempt($0, .down, .connectTimeout) }
      }
      return result
    }
    #expect(await checker.check(try request("tcp://db:5432")).result.state == state)
  }
}
