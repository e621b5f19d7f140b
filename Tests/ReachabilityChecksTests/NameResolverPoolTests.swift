import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@Suite("NameResolverPool")
struct NameResolverPoolTests {
  @Test("Unanswered lookups of clients do not delay checked names")
  func clientLookupsHaveTheirOwnQueue() async throws {
    let server = try DNSServer { name, _ in name.hasPrefix("silent") ? .silence : .addresses([[10, 0, 0, 9]]) }
    defer { server.stop() }
    let bench = Bench(.wired, settle: .zero, nameServers: [server.address])
    try bench.monitor.start()
    // Sixty-four at a time, some seconds each: in a common queue it would wait for a minute.
    for number in 0..<1_000 { bench.monitor.resolve("silent\(number).example.", timeout: .seconds(600)) { _ in } }
    let registered = CheckRequest(try CheckTarget("route://another.example."), timeout: .seconds(30))
    #expect(await Checker(monitor: bench.monitor).check(registered).result.state == .up)
  }
}
