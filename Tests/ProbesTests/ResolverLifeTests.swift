import Glibc
import Probes
import Synchronization
import Testing

typealias Outcome = Result<[ResolvedAddress], ResolutionFailure>

/// Outcomes of requests that were made with completions, and a way to wait for them.
final class Outcomes: Sendable {
  private let list = Mutex<[Outcome]>([])

  var all: [Outcome] { list.withLock { $0 } }

  var take: @Sendable (Outcome) -> Void {
    { outcome in self.list.withLock { $0.append(outcome) } }
  }

  func wait(for count: Int) async throws -> [Outcome] {
    try await eventually { self.all.count >= count }
    return all
  }
}

struct TooLate: Error {}

/// Waits, generously, until `condition` holds.
func eventually(_ condition: @Sendable () -> Bool) async throws {
  let deadline = ContinuousClock.now + patience
  while !condition() {
    if ContinuousClock.now > deadline { throw TooLate() }
    try await Task.sleep(for: .milliseconds(2))
  }
}

@Suite struct ResolverLifeTests {
  @Test func theSameNameIsAskedOnce() async throws {
    let server = try DNSServer { _, _ in .held([four, six]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    for name in ["host.test", "HOST.test", "host.TEST"] {
      resolver.resolve(name, timeout: patience, outcomes.take)
    }
    try await eventually { server.count("host.test") == 2 }
    resolver.resolve("host.test", timeout: patience, outcomes.take)
    server.release()
    let all = try await outcomes.wait(for: 4)
    #expect(all.allSatisfy { (try? $0.get())?.map(\.bytes) == [six, four] })
    #expect(server.total == 2)
  }

  @Test func answersAreRememberedUntilFlushed() async throws {
    let server = try DNSServer { _, _ in .addresses([four], timeToLive: 60) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    for _ in 0..<3 {
      let addresses = try await resolver.resolve("host.test", timeout: patience)
      let life = try #require(addresses.first?.timeToLive)
      #expect(life <= .seconds(60) && life > .zero)
    }
    #expect(server.total == 2)
    server.answer { _, _ in .addresses([otherFour]) }
    #expect(try await resolver.bytes("host.test") == [four])
    resolver.flush()
    #expect(try await resolver.bytes("host.test") == [otherFour])
    #expect(server.total == 4)
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
    let resolver = Resolver(asking: [server])
    for _ in 0..<3 {
      await #expect(throws: ResolutionFailure.notFound) { try await resolver.bytes("no.test") }
    }
    #expect(server.count("no.test") == 2)
    await #expect(throws: ResolutionFailure.self) { try await resolver.bytes("bad.test") }
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

  @Test func anAnswerAskedBeforeTheFlushIsNotRemembered() async throws {
    let server = try DNSServer { _, _ in .held([four]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    resolver.resolve("host.test", timeout: patience, outcomes.take)
    try await eventually { server.total == 2 }
    resolver.flush()
    server.release()
    #expect(try await outcomes.wait(for: 1).count == 1)
    server.answer { _, _ in .addresses([otherFour]) }
    #expect(try await resolver.bytes("host.test") == [otherFour])
  }

  @Test func aLateAnswerCompletesNobodyTwice() async throws {
    let server = try DNSServer { _, _ in .held([four]) }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let outcomes = Outcomes()
    let first = resolver.resolve("host.test", timeout: patience, outcomes.take)
    resolver.resolve("host.test", timeout: .milliseconds(100), outcomes.take)
    let other = Outcomes()
    resolver.resolve("host.test", timeout: patience, other.take)
    try await eventually { server.total >= 2 }
    first.cancel()
    first.cancel()
    let early = try await outcomes.wait(for: 2)
    #expect(early.count == 2 && early.contains(.failure(.cancelled)) && early.contains(.failure(.timeout)))
    server.release()
    #expect(try await other.wait(for: 1).first.map { try $0.get().map(\.bytes) } == [four])
    #expect(outcomes.all.count == 2)
    first.cancel()
  }

  @Test func aSilentServerIsAskedAgainWhileSomebodyWaits() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    // All retransmissions fit into 0.7 s here; the request has more time than that.
    let resolver = Resolver(asking: [server], timeout: .milliseconds(100))
    let outcomes = Outcomes()
    resolver.resolve("host.test", timeout: patience, outcomes.take)
    try await eventually { server.total > 8 }
    server.answer { _, _ in .addresses([four]) }
    #expect(try await outcomes.wait(for: 1).first.map { try $0.get().map(\.bytes) } == [four])
  }

  @Test func cancellingTheTaskCancelsTheRequest() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let task = Task { try await resolver.bytes("host.test") }
    try await eventually { server.total > 0 }
    task.cancel()
    await #expect(throws: ResolutionFailure.cancelled) { try await task.value }
    let early = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await resolver.bytes("other.test")
    }
    await #expect(throws: ResolutionFailure.cancelled) { try await early.value }
  }

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
    try await eventually { outcomes.all.count >= 3_000 - 1_024 - 64 }
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
    try await eventually { server.total > 10 }
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
    let holder = Mutex<Resolver?>(Resolver(asking: [server]))
    holder.withLock { $0 }?.resolve("host.test", timeout: patience) { outcome in
      let last = holder.withLock { resolver in
        defer { resolver = nil }
        return resolver
      }
      last?.stop()
      outcomes.take(outcome)
    }
    try await eventually { server.total >= 2 }
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
