import HostResolver
import TestSupport
import Testing

/// What routers report about a name server ends a query before its timeout.
@Suite("Unreachable name servers", .enabled(if: Namespace.isSupported))
struct UnreachableServerTests {
  private static let unreachable = "198.51.100.53"
  private let pair: VethPair

  init() throws {
    pair = try VethPair()
    try pair.addDefaultRoutes()
    // By default Linux sends two such messages in a burst, and c-ares 1.34 sends four queries.
    try pair.router.sysctl("net.ipv4.icmp_ratelimit", 0)
    try pair.router.ip("route add unreachable 198.51.100.0/24")
    try pair.router.ip("route add unreachable 2001:db8:53::/64")
  }

  /// The outcome for a name, with timeouts longer than the test waits.
  private func outcome(_ servers: [String]) throws -> Outcome {
    let outcomes = Outcomes()
    pair.client.run {
      let resolver = Resolver(
        .init(servers: servers, timeout: .seconds(300), resolvConfPath: "/dev/null"))
      resolver.resolve("host.test", timeout: .seconds(300), outcomes.take)
      _ = eventually { !outcomes.all.isEmpty }
      resolver.stop()
    }
    return try #require(outcomes.all.first)
  }

  @Test(arguments: [unreachable, "2001:db8:53::53"]) func theOnlyServer(address: String) throws {
    guard case .failure(.serverFailure) = try outcome([address]) else {
      Issue.record("not a failure of the server")
      return
    }
  }

  @Test func theNextServerIsAsked() throws {
    let server = try pair.client.run { try DNSServer { _, _ in .addresses([[10, 0, 0, 1]]) } }
    defer { server.stop() }
    let found = try outcome([Self.unreachable, server.address])
    #expect(try found.get().map(\.bytes) == [[10, 0, 0, 1]])
  }
}
