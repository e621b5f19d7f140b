import EventLoop
import TestSupport
import Testing

@testable import HostResolver

/// The limit of the queries that a resolver sends.
@Suite struct ResolverQueryBudgetTests {
  private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

  @Test func creditGrowsWithTime() {
    var budget = ResolverQueryBudget(.init(perSecond: 10, atOnce: 6), now: start)
    #expect(budget.names == 3)
    for _ in 0..<3 { budget.takeName() }
    #expect(budget.names == 0)
    #expect(budget.nextName == start.advanced(by: .milliseconds(200)))
    budget.refill(start.advanced(by: .milliseconds(199)))
    #expect(budget.names == 0)
    budget.refill(start.advanced(by: .milliseconds(200)))
    #expect(budget.names == 1)
    budget.refill(start.advanced(by: .seconds(3_600)))
    #expect(budget.names == 3)
    // A clock that seems to go back.
    budget.refill(start)
    #expect(budget.names == 3)
  }

  @Test func withoutALimitNothingWaits() {
    var budget = ResolverQueryBudget(nil, now: start)
    for _ in 0..<10_000 { budget.takeName() }
    #expect(budget.names == .max && budget.nextName == nil)
  }

  private func resolver(_ server: DNSServer, atOnce: Int, path: String = "/dev/null") -> Resolver {
    Resolver(
      .init(
        servers: [server.address], resolvConfPath: path, queryLimit: .init(perSecond: 0, atOnce: atOnce)))
  }

  @Test func namesBeyondTheLimitWaitUntilTheirDeadline() async throws {
    let server = try DNSServer { _, _ in .addresses([four]) }
    defer { server.stop() }
    let resolver = resolver(server, atOnce: 8)
    let outcomes = Outcomes()
    for number in 0..<20 { resolver.resolve("h\(number).test.", timeout: .seconds(1), outcomes.take) }
    let all = try await outcomes.wait(for: 20)
    #expect(all.count { (try? $0.get()) != nil } == 4)
    #expect(all.count { $0 == .failure(.tooManyQueries) } == 16)
    #expect(server.total == 8)
    // What is cached needs no query.
    #expect(try await resolver.bytes("h0.test.") == [four])
  }

  @Test func everyDomainOfTheSearchListCounts() async throws {
    let server = try DNSServer { _, _ in .noSuchName }
    defer { server.stop() }
    let file = try ResolvConfTests.ResolvConf("search a.test b.test c.test d.test e.test\n")
    let resolver = resolver(server, atOnce: 6, path: file.path)
    let outcomes = Outcomes()
    resolver.resolve("db", timeout: .milliseconds(300), outcomes.take)
    let all = try await outcomes.wait(for: 1)
    #expect(all.allSatisfy { (try? $0.get()) == nil })
    #expect(server.total == 6)
  }

  @Test func flushedQueriesCountAgain() async throws {
    let server = try DNSServer { _, _ in .held([four]) }
    defer { server.stop() }
    let resolver = resolver(server, atOnce: 4)
    let outcomes = Outcomes()
    resolver.resolve("db.test.", timeout: .seconds(1), outcomes.take)
    try await waitUntil { server.total == 2 }
    resolver.flush()
    try await waitUntil { server.total == 4 }
    for _ in 0..<5 { resolver.flush() }
    _ = try await outcomes.wait(for: 1)
    #expect(server.total == 4)
  }
}
