import HostResolver
import TestSupport
import Testing

let four: [UInt8] = [192, 0, 2, 1]
let six: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
let otherFour: [UInt8] = [192, 0, 2, 2]

extension Resolver {
  /// A resolver that queries only `servers`, without a search list.
  convenience init(asking servers: [DNSServer], timeout: Duration = .seconds(5)) {
    self.init(ResolverConfiguration(servers: servers.map(\.address), timeout: timeout, resolvConfPath: "/dev/null"))
  }

  func bytes(_ name: String, timeout: Duration = patience) async throws -> [[UInt8]] {
    try await resolve(name, timeout: timeout).map(\.bytes)
  }
}

@Suite struct ResolverTests {
  /// Answers `name` by the handler and returns the addresses or the failure.
  private func outcome(
    _ name: String = "host.test", timeout: Duration = patience, _ handler: @escaping DNSServer.Handler
  ) async throws -> Result<[[UInt8]], HostResolutionFailure> {
    let server = try DNSServer(handler)
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    do throws(HostResolutionFailure) {
      return .success(try await resolver.resolve(name, timeout: timeout).map(\.bytes))
    } catch {
      return .failure(error)
    }
  }

  @Test func bothFamiliesAreAskedAndIPv6ComesFirst() async throws {
    let result = try await outcome { _, _ in .addresses([four, six]) }
    #expect(result == .success([six, four]))
  }

  @Test func oneFamilyIsEnough() async throws {
    #expect(try await outcome { _, _ in .addresses([four]) } == .success([four]))
    #expect(try await outcome { _, _ in .addresses([six]) } == .success([six]))
  }

  @Test(arguments: [DNSReply.serverFailure, .refused, .noSuchName, .noData])
  func oneFamilyIsEnoughWhateverTheOtherSays(other: DNSReply) async throws {
    #expect(
      try await outcome { _, type in type == DNSMessage.a ? .addresses([four]) : other } == .success([four]))
    #expect(
      try await outcome { _, type in type == DNSMessage.aaaa ? .addresses([six]) : other } == .success([six]))
  }

  @Test func anAliasWithoutAnAddressOfOneFamilyHidesNothing() async throws {
    #expect(try await outcome { _, _ in .aliased(["a.test"], [four]) } == .success([four]))
    #expect(try await outcome { _, _ in .aliased(["a.test"], [six]) } == .success([six]))
    #expect(try await outcome { _, _ in .aliased(["a.test"], []) } == .failure(.notFound))
  }

  @Test func aChainOfAliasesIsFollowed() async throws {
    #expect(
      try await outcome { _, _ in .aliased(["a.test", "b.test", "c.test"], [four, six]) } == .success([six, four]))
  }

  @Test func aliasesThatLeadInACircleEnd() async throws {
    for aliases in [["a.test"], ["a.test", "b.test"]] {
      let result = try await outcome { _, _ in .loop(aliases) }
      #expect(throws: HostResolutionFailure.self) { try result.get() }
    }
  }

  @Test func anUnknownNameIsNotFound() async throws {
    #expect(try await outcome { _, _ in .noSuchName } == .failure(.notFound))
    #expect(try await outcome { _, _ in .noData } == .failure(.notFound))
  }

  @Test(arguments: [DNSReply.serverFailure, .refused])
  func aFailingServerIsNotAMissingName(reply: DNSReply) async throws {
    for other in [reply, .noData, .noSuchName] {
      for family in [DNSMessage.a, DNSMessage.aaaa] {
        let result = try await outcome { _, type in type == family ? reply : other }
        guard case .failure(.serverFailure(let text)) = result else {
          Issue.record("\(reply) and \(other) gave \(result)")
          continue
        }
        #expect(!text.isEmpty)
      }
    }
  }

  @Test func silenceIsATimeout() async throws {
    #expect(try await outcome(timeout: .milliseconds(200)) { _, _ in .silence } == .failure(.timeout))
  }

  @Test func atTheDeadlineOneFamilyIsEnough() async throws {
    let result = try await outcome(timeout: .milliseconds(500)) { _, type in
      type == DNSMessage.a ? .addresses([four]) : .silence
    }
    #expect(result == .success([four]))
  }

  @Test("A silent family is waited for briefly")
  func oneFamilyIsEnoughAfterAWhile() async throws {
    let server = try DNSServer { name, type in
      name == "half.test" && type == DNSMessage.a ? .addresses([four]) : .silence
    }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let (half, silent) = (Outcomes(), Outcomes())
    // On one thread: earlier deadlines are handled first.
    resolver.resolve("half.test", timeout: patience, half.take)
    resolver.resolve("silent.test", timeout: .seconds(2), silent.take)
    #expect(try await silent.wait(for: 1) == [.failure(.timeout)])
    #expect(half.all.map { try? $0.get().map(\.bytes) } == [[four]])
  }

  @Test func noTimeAtAllIsATimeout() async throws {
    #expect(try await outcome(timeout: .zero) { _, _ in .addresses([four]) } == .failure(.timeout))
    #expect(try await outcome(timeout: .seconds(-1)) { _, _ in .addresses([four]) } == .failure(.timeout))
  }

  @Test func anAnswerWithAnotherIDIsIgnored() async throws {
    #expect(try await outcome(timeout: .milliseconds(200)) { _, _ in .wrongID([four]) } == .failure(.timeout))
  }

  @Test func aMalformedAnswerGivesNoAddress() async throws {
    switch try await outcome(timeout: .milliseconds(200), { _, _ in .garbage }) {
    // c-ares 1.18 ignores it, and 1.34 ends the query with it.
    case .failure(.timeout), .failure(.serverFailure): break
    case let other: Issue.record("\(other)")
    }
  }

  @Test func aTruncatedAnswerIsFetchedByTCP() async throws {
    let many = (1...60).map { [192, 0, 2, UInt8($0)] as [UInt8] }
    #expect(try await outcome { _, _ in .truncated(many) } == .success(many))
  }

  @Test func addressesAreDistinctAndBounded() async throws {
    let twice = [four, four, otherFour]
    #expect(try await outcome { _, _ in .addresses(twice) } == .success([four, otherFour]))
  }

  @Test func manyAddressesAreLimitedIndependentlyOfTheirOrder() async throws {
    let many = (0..<200).map { [192, 0, 2, UInt8($0)] as [UInt8] }
    for answer in [many, many.reversed()] {
      let server = try DNSServer { _, _ in .truncated(answer) }
      defer { server.stop() }
      let found = try await Resolver(asking: [server]).resolve("many.test", timeout: patience)
      #expect(found.map(\.bytes) == Array(many.prefix(64)))
      #expect(found.omitted == 136)
    }
  }

  @Test func aSecondServerHelps() async throws {
    let good = try DNSServer { _, _ in .addresses([four]) }
    defer { good.stop() }
    for reply in [DNSReply.silence, .serverFailure, .refused] {
      let bad = try DNSServer { _, _ in reply }
      defer { bad.stop() }
      let resolver = Resolver(asking: [bad, good], timeout: .seconds(1))
      #expect(try await resolver.bytes("host.test") == [four])
      #expect(bad.total > 0)
    }
    // No server listens: ICMP reports it.
    let dead = "127.0.0.1:\(try Loopback.closedPort())"
    let resolver = Resolver(.init(servers: [dead, good.address], resolvConfPath: "/dev/null"))
    #expect(try await resolver.bytes("host.test") == [four])
  }

  @Test func noServerAtAll() async throws {
    let dead = "127.0.0.1:\(try Loopback.closedPort())"
    let resolver = Resolver(.init(servers: [dead], resolvConfPath: "/dev/null"))
    let error = await #expect(throws: HostResolutionFailure.self) { try await resolver.bytes("host.test") }
    guard case .serverFailure = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func anUnusableServerListSaysSo() async throws {
    let resolver = Resolver(.init(servers: ["not an address"], resolvConfPath: "/dev/null"))
    let error = await #expect(throws: HostResolutionFailure.self) { try await resolver.bytes("host.test") }
    #expect(error == .serverFailure("the list of DNS servers is not usable: not an address"))
  }

  @Test func localhostNeedsNoServer() async throws {
    let server = try DNSServer { _, _ in .noSuchName }
    defer { server.stop() }
    let resolver = Resolver(asking: [server])
    let addresses = try await resolver.resolve("localhost", timeout: patience)
    #expect(addresses.map(\.bytes).contains([127, 0, 0, 1]))
    #expect(addresses.allSatisfy { $0.timeToLive == nil })
    #expect(server.total == 0)
  }

  @Test func literalsAreReturnedAsTheyAre() async throws {
    let resolver = Resolver(.init(servers: ["not an address"]))
    #expect(try await resolver.bytes("192.0.2.1") == [four])
    #expect(try await resolver.bytes("2001:db8::1") == [six])
    let zoned = try await resolver.resolve("fe80::1%lo", timeout: patience)
    #expect(zoned.map(\.scopeID) == [1])
  }
}
