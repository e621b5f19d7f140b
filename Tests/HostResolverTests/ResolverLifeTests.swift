import Locks
import HostResolver
import TestSupport
import Testing

/// Many names at once, and every way to end.
@Suite struct ResolverLifeTests {
  @Test func aThousandNamesAtOnce() async throws {
    let server = try DNSServer { name, _ in
      let number = Int(name.prefix { $0 != "." }.dropFirst()) ?? 0
      return .addresses([[10, 0, UInt8(number >> 8), UInt8(number & 0xFF)]])
    }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let found = try await withThrowingTaskGroup(of: (Int, [[UInt8]]).self) { group in
      for number in 0..<1_000 {
        group.addTask { (number, try await resolver.bytes("n\(number).test")) }
      }
      return try await group.reduce(into: [Int: [[UInt8]]]()) { $0[$1.0] = $1.1 }
    }
    #expect(found.count == 1_000)
    #expect(found.allSatisfy { $0.value == [[10, 0, UInt8($0.key >> 8), UInt8($0.key & 0xFF)]] })
  }

  @Test func tooManyNamesAreRefusedAndNoneIsLost() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    for number in 0..<3_000 { resolver.resolve("n\(number).test", timeout: patience, outcomes.take) }
    try await waitUntil { outcomes.all.count >= 3_000 - 1_024 - 64 }
    resolver.stop()
    let all = outcomes.all
    #expect(all.count == 3_000)
    #expect(all.allSatisfy { $0 == .failure(.tooManyQueries) || $0 == .failure(.cancelled) })
    #expect(all.filter { $0 == .failure(.cancelled) }.count >= 1_024)
  }

  @Test func requestsForOneNameAreBoundedToo() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    for _ in 0..<5_000 { resolver.resolve("host.test", timeout: patience, outcomes.take) }
    #expect(outcomes.all == [Outcome](repeating: .failure(.tooManyQueries), count: 5_000 - 4_096))
    resolver.stop()
    #expect(outcomes.all.count == 5_000)
  }

  @Test func stopInTheMiddleCompletesEverything() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    for number in 0..<200 { resolver.resolve("n\(number).test", timeout: patience, outcomes.take) }
    try await waitUntil { server.total > 10 }
    resolver.stop()
    #expect(outcomes.all == [Outcome](repeating: .failure(.cancelled), count: 200))
    resolver.stop()
    resolver.flush()
    resolver.resolve("later.test", timeout: patience, outcomes.take)
    #expect(outcomes.all.count == 201)
    #expect(outcomes.all.last == .failure(.cancelled))
  }

  @Test func theLastReferenceMayGoOnItsOwnThread() async throws {
    let server = try DNSServer { _, _ in .held([four]) }
    defer { server.stop() }
    let outcomes = Outcomes()
    let holder = Locked<Resolver?>(Resolver(asking: [server]))
    holder.withLock { $0 }?.resolve("host.test", timeout: patience) { outcome in
      let last = holder.withLock { resolver in
        defer { resolver = nil }
        return resolver
      }
      last?.stop()
      outcomes.take(outcome)
    }
    try await waitUntil { server.total >= 2 }
    server.release()
    #expect(try await outcomes.wait(for: 1).first.map { try $0.get().map(\.bytes) } == [four])
    #expect(holder.withLock { $0 } == nil)
  }

  @Test func aResolverThatGoesAwayCompletesItsRequests() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let outcomes = Outcomes()
    do {
      let resolver = Resolver(asking: [server])
      resolver.resolve("host.test", timeout: patience, outcomes.take)
    }
    #expect(try await outcomes.wait(for: 1) == [.failure(.cancelled)])
  }

  @Test func completionsMayAskAgain() async throws {
    let server = try DNSServer { _, _ in .addresses([four]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    resolver.resolve("one.test", timeout: patience) { _ in
      resolver.resolve("two.test", timeout: patience, outcomes.take)
      resolver.resolve("one.test", timeout: patience, outcomes.take)
    }
    #expect(try await outcomes.wait(for: 2).allSatisfy { (try? $0.get())?.map(\.bytes) == [four] })
  }
}
