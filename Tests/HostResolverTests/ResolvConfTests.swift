import Glibc
import HostResolver
import Locks
import TestSupport
import Testing

/// The search list and its changes, read from a file that the test writes.
@Suite struct ResolvConfTests {
  /// A file for one test, which is removed after it.
  final class ResolvConf {
    let path = "/tmp/probes-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).conf"

    init(_ text: String) throws { try write(text) }

    deinit { unsafe unlink(path) }

    func write(_ text: String) throws {
      guard let file = unsafe fopen(path, "w") else { throw Loopback.Failure(operation: "fopen") }
      unsafe fputs(text, file)
      unsafe fclose(file)
    }
  }

  private func resolver(_ server: DNSServer, _ file: ResolvConf) -> Resolver {
    Resolver(.init(servers: [server.address], resolvConfPath: file.path))
  }

  @Test func useVCMeansTCPOnly() async throws {
    let server = try DNSServer { _, _ in .addresses([four, six]) }
    defer { server.stop() }
    let file = try ResolvConf("options timeout:1 use-vc\n")
    #expect(try await resolver(server, file).bytes("db.test") == [six, four])
    #expect(server.count("db.test") == 2 && !server.hasDatagrams)
    let plain = try ResolvConf("options timeout:1\n")
    #expect(try await resolver(server, plain).bytes("db.test") == [six, four])
    #expect(server.hasDatagrams)
  }

  @Test func theSearchListIsTried() async throws {
    let server = try DNSServer { name, _ in name == "db.two.test" ? .addresses([four, six]) : .noSuchName }
    defer { server.stop() }
    let file = try ResolvConf("search one.test two.test\n")
    #expect(try await resolver(server, file).bytes("db") == [six, four])
    #expect(server.count("db.one.test") >= 2)
    #expect(server.count("db") == 0)
  }

  /// Kubernetes permits 32 domains and 2,048 characters; glibc has no limit.
  @Test(arguments: [6, 7, 16, 17, 32, 33, 100]) func theLastOfManyDomainsIsTried(count: Int) async throws {
    let server = try DNSServer { name, _ in name == "db.last.test" ? .addresses([four]) : .noSuchName }
    defer { server.stop() }
    // Of 2,048 characters in all if there are 32.
    let domains = (1..<count).map { "d\($0)." + String(repeating: "a", count: 50) + ".test" } + ["last.test"]
    let file = try ResolvConf("search \(domains.joined(separator: " "))\noptions ndots:5\n")
    #expect(try await resolver(server, file).bytes("db") == [four])
    #expect(server.count("db") == 0)
  }

  @Test func namesWithDotsAreTriedAsTheyAreFirst() async throws {
    let server = try DNSServer { name, _ in name == "db.sub.one.test" ? .addresses([four]) : .noSuchName }
    defer { server.stop() }
    let file = try ResolvConf("search one.test\n")
    #expect(try await resolver(server, file).bytes("db.sub") == [four])
    #expect(server.count("db.sub") >= 2)
  }

  @Test func aFinalDotKeepsTheSearchListOut() async throws {
    let server = try DNSServer { name, _ in name == "db.one.test" ? .addresses([four]) : .noSuchName }
    defer { server.stop() }
    let file = try ResolvConf("search one.test\n")
    await #expect(throws: HostResolutionFailure.notFound) { try await resolver(server, file).bytes("db.") }
    #expect(server.count("db.one.test") == 0)
  }

  @Test func ndotsIsHonoured() async throws {
    let server = try DNSServer { name, _ in name == "db.sub.one.test" ? .addresses([four]) : .noSuchName }
    defer { server.stop() }
    let file = try ResolvConf("search one.test\noptions ndots:2 timeout:1 attempts:1\n")
    #expect(try await resolver(server, file).bytes("db.sub") == [four])
    #expect(server.count("db.sub") == 0)
  }

  @Test func bothFamiliesComeFromOneDomain() async throws {
    let server = try DNSServer { name, _ in
      switch name {
      case "db.one.test": .addresses([four])
      case "db.two.test": .addresses([otherFour, six])
      default: .noSuchName
      }
    }
    defer { server.stop() }
    let file = try ResolvConf("search one.test two.test\n")
    #expect(try await resolver(server, file).bytes("db") == [four])
    #expect(server.count("db.two.test") == 0)
  }

  @Test func aBrokenDomainHidesNeitherTheOthersNorItself() async throws {
    let server = try DNSServer { name, _ in
      switch name {
      case "db.one.test", "no.one.test": .serverFailure
      case "db.two.test": .addresses([four])
      default: .noSuchName
      }
    }
    defer { server.stop() }
    let file = try ResolvConf("search one.test two.test\n")
    let resolver = resolver(server, file)
    #expect(try await resolver.bytes("db") == [four])
    let error = await #expect(throws: HostResolutionFailure.self) { try await resolver.bytes("no") }
    #expect(error != .notFound)
    #expect(server.count("no.two.test") >= 2 && server.count("no") >= 2)
  }

  @Test func aChangedFileIsFollowed() async throws {
    let server = try DNSServer { name, _ in
      switch name {
      case "db.old.test": .addresses([four])
      case "db.newer.test": .addresses([otherFour])
      default: .noSuchName
      }
    }
    defer { server.stop() }
    let file = try ResolvConf("search old.test\n")
    let resolver = resolver(server, file)
    #expect(try await resolver.bytes("db") == [four])
    try file.write("search newer.test\n")
    #expect(try await resolver.bytes("db") == [otherFour])
  }

  @Test func whatIsUnderWayFollowsTheFileToo() async throws {
    let server = try DNSServer { name, _ in name == "db.newer.test" ? .addresses([otherFour]) : .silence }
    defer { server.stop() }
    let file = try ResolvConf("search old.test\n")
    let resolver = resolver(server, file)
    let outcomes = Outcomes()
    resolver.resolve("db", timeout: patience, outcomes.take)
    try await waitUntil { server.count("db.old.test") >= 2 }
    try file.write("search newer.test\n")
    resolver.resolve("db", timeout: patience, outcomes.take)
    let all = try await outcomes.wait(for: 2)
    #expect(all.allSatisfy { (try? $0.get())?.map(\.bytes) == [otherFour] })
  }

  @Test func theResolverTellsWithoutBeingAsked() async throws {
    let server = try DNSServer { name, _ in
      name == "db.newer.test" ? .addresses([otherFour]) : name == "db.old.test" ? .addresses([four]) : .noSuchName
    }
    defer { server.stop() }
    let file = try ResolvConf("search old.test\n")
    let resolver = resolver(server, file)
    let changes = Locked(0)
    resolver.onChange { changes.withLock { $0 += 1 } }
    #expect(try await resolver.bytes("db") == [four])
    #expect(changes.withLock(\.self) == 0)
    let replacement = try ResolvConf("search newer.test\n")
    #expect(unsafe rename(replacement.path, file.path) == 0)
    #expect(await eventually { () async in changes.withLock(\.self) == 1 })
    #expect(try await resolver.bytes("db") == [otherFour])
    #expect(changes.withLock(\.self) == 1)
  }
}
