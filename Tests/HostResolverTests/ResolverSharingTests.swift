import HostResolver
import TestSupport
import Testing

/// What requests share: one query, one memory; and what they do not: their deadlines.
@Suite struct ResolverSharingTests {
  @Test func theSameNameIsAskedOnce() async throws {
    let server = try DNSServer { _, _ in .held([four, six]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    for name in ["host.test", "HOST.test", "host.TEST"] {
      resolver.resolve(name, timeout: patience, outcomes.take)
    }
    try await waitUntil { server.count("host.test") >= 2 }
    resolver.resolve("host.test", timeout: patience, outcomes.take)
    server.release()
    let all = try await outcomes.wait(for: 4)
    #expect(all.allSatisfy { (try? $0.get())?.map(\.bytes) == [six, four] })
    // Two for all of them; on a busy machine the resolver may repeat them.
    #expect(server.total < 8)
  }

  @Test func answersAreRememberedUntilFlushed() async throws {
    let server = try DNSServer { _, _ in .addresses([four], timeToLive: 60) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    _ = try await resolver.resolve("host.test", timeout: patience)
    let asked = server.total
    for _ in 0..<3 {
      let addresses = try await resolver.resolve("host.test", timeout: patience)
      let life = try #require(addresses.first?.timeToLive)
      #expect(life <= .seconds(60) && life > .zero)
    }
    #expect(server.total == asked)
    server.answer { _, _ in .addresses([otherFour]) }
    #expect(try await resolver.bytes("host.test") == [four])
    resolver.flush()
    #expect(try await resolver.bytes("host.test") == [otherFour])
    #expect(server.total > asked)
  }

  @Test func aliasesShortenTheTimeToLive() async throws {
    let server = try DNSServer { _, _ in .aliased(["a.test"], [four], aliasLife: 7, timeToLive: 60) }
    defer { server.stop() }
    let addresses = try await Resolver(asking: [server]).resolve("host.test", timeout: patience)
    #expect(addresses.first?.timeToLive == .seconds(7))
  }

  @Test func missingNamesAreRememberedAndFailuresAreNot() async throws {
    let server = try DNSServer { name, _ in name == "no.test" ? .noSuchName : .serverFailure }
    defer { server.stop() }
    // The longest timeout: a busy machine may need seconds between two statements.
    let resolver = Resolver(
      .init(servers: [server.address], resolvConfPath: "/dev/null", negativeTimeToLive: .seconds(30)))
    await #expect(throws: HostResolutionFailure.notFound) { try await resolver.bytes("no.test") }
    let asked = server.count("no.test")
    for _ in 0..<3 {
      await #expect(throws: HostResolutionFailure.notFound) { try await resolver.bytes("no.test") }
    }
    #expect(server.count("no.test") == asked)
    await #expect(throws: HostResolutionFailure.self) { try await resolver.bytes("bad.test") }
    server.answer { _, _ in .addresses([four]) }
    #expect(try await resolver.bytes("bad.test") == [four])
  }

  @Test func halfAnAnswerIsNotRemembered() async throws {
    let server = try DNSServer { _, type in type == DNSMessage.a ? .addresses([four]) : .serverFailure }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    #expect(try await resolver.bytes("host.test") == [four])
    server.answer { _, _ in .addresses([four, six]) }
    #expect(try await resolver.bytes("host.test") == [six, four])
  }

  @Test func whatWasAskedBeforeTheFlushIsAskedAgain() async throws {
    let server = try DNSServer { _, _ in .held([four]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    resolver.resolve("host.test", timeout: patience, outcomes.take)
    try await waitUntil { server.total >= 2 }
    server.answer { _, _ in .addresses([otherFour]) }
    resolver.flush()
    server.release()
    #expect(try await outcomes.wait(for: 1).map { try $0.get().map(\.bytes) } == [[otherFour]])
    #expect(try await resolver.bytes("host.test") == [otherFour])
  }

  @Test func aLateAnswerCompletesNoRequestTwice() async throws {
    let server = try DNSServer { _, _ in .held([four]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    let first = resolver.resolve("host.test", timeout: patience, outcomes.take)
    resolver.resolve("host.test", timeout: .milliseconds(100), outcomes.take)
    let other = Outcomes()
    resolver.resolve("host.test", timeout: patience, other.take)
    try await waitUntil { server.total >= 2 }
    first.cancel()
    first.cancel()
    let early = try await outcomes.wait(for: 2)
    #expect(early.count == 2 && early.contains(.failure(.cancelled)) && early.contains(.failure(.timeout)))
    server.release()
    #expect(try await other.wait(for: 1).first.map { try $0.get().map(\.bytes) } == [four])
    #expect(outcomes.all.count == 2)
    first.cancel()
  }

  @Test func aSilentServerIsQueriedAgainWhileRequestsWait() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    // All retransmissions fit into 0.7 s here; the request has more time than that.
    let resolver = Resolver(asking: [server], timeout: .milliseconds(100))
    let outcomes = Outcomes()
    resolver.resolve("host.test", timeout: patience, outcomes.take)
    try await waitUntil { server.total > 2 }
    server.answer { _, _ in .addresses([four]) }
    #expect(try await outcomes.wait(for: 1).first.map { try $0.get().map(\.bytes) } == [four])
  }

  @Test func cancellingTheTaskCancelsTheRequest() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let task = Task { try await resolver.bytes("host.test") }
    try await waitUntil { server.total > 0 }
    task.cancel()
    await #expect(throws: HostResolutionFailure.cancelled) { try await task.value }
    let early = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await resolver.bytes("other.test")
    }
    await #expect(throws: HostResolutionFailure.cancelled) { try await early.value }
  }

  /// A resolver whose socket stays open, because one query is never answered.
  private func withOpenSocket(_ server: DNSServer, timeout: Duration) async throws -> Resolver {
    let resolver = Resolver(asking: [server], timeout: timeout)
    resolver.resolve("never.test", timeout: patience) { _ in }
    try await waitUntil { server.count("never.test") == 2 }
    #expect(try await resolver.bytes("one.test") == [four])
    server.ignoreKnownSockets()
    return resolver
  }

  private static let allButOne: DNSServer.Handler = { name, type in
    name == "never.test" ? .silence : .addresses(type == DNSMessage.a ? [four] : [])
  }

  @Test("A route change repeats open queries from new sockets")
  func flushingOpensOtherSockets() async throws {
    let server = try DNSServer(Self.allButOne)
    defer { server.stop() }
    let resolver = try await withOpenSocket(server, timeout: .seconds(600))
    async let asked = resolver.bytes("two.test")
    try await waitUntil { server.hasIgnored("two.test") }
    resolver.flush()
    #expect(try await asked == [four])
    #expect(try await resolver.bytes("three.test") == [four])
    resolver.stop()
  }

  @Test("Silent servers are queried from new sockets")
  func silenceOpensOtherSockets() async throws {
    let server = try DNSServer(Self.allButOne)
    defer { server.stop() }
    let resolver = try await withOpenSocket(server, timeout: .milliseconds(700))
    #expect(try await resolver.bytes("two.test") == [four])
    resolver.stop()
  }
}
