import Glibc
import HostProcess
import Locks
import HostResolver
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// Makes one check inside a namespace, with a prober that was made there.
private func check(_ asked: CheckRequest, in namespace: Namespace) -> CheckResult? {
  let result = Locked<CheckResult?>(nil)
  namespace.run {
    let resolver = Resolver()
    let prober = SocketProber(resolver: resolver)
    prober.check(asked) { found in result.withLock { $0 = found } }
    _ = eventually { result.withLock { $0 } != nil }
    prober.stop()
    resolver.stop()
  }
  return result.withLock { $0 }
}

@Suite("ICMP checks, in namespaces", .enabled(if: Namespace.isSupported))
struct EchoCheckTests {
  /// How the ICMP socket is opened: raw as root, or as a datagram socket for the group.
  enum Privilege: CaseIterable { case raw, datagram }

  private func allow(_ privilege: Privilege, in namespace: Namespace) throws {
    if privilege == .datagram {
      try namespace.run { try write("0 2147483647", to: "/proc/sys/net/ipv4/ping_group_range") }
    }
  }

  private func write(_ text: String, to path: String) throws {
    guard let file = unsafe fopen(path, "w") else { throw TestError("fopen \(path)") }
    unsafe fputs(text, file)
    guard unsafe fclose(file) == 0 else { throw TestError("write \(path)") }
  }

  @Test("Both families answer on raw and datagram sockets", arguments: Privilege.allCases, ["10.9.0.1", "fd09::1"])
  func answers(privilege: Privilege, address: String) throws {
    let pair = try VethPair()
    try allow(privilege, in: pair.client)
    let options = ICMPOptions(count: 5, spacing: .milliseconds(5))
    let result = try #require(check(try request("icmp://\(address)", .icmp(options)), in: pair.client))
    #expect(result.state == .up)
    #expect(result.phases.map(\.name) == [.rtt])
    #expect(result.source == IPAddress(address.contains(":") ? "fd09::2" : "10.9.0.2"))
    let icmp = try #require(result.evidence.icmp)
    #expect(icmp.sent == 5 && icmp.received == 5 && icmp.loss == 0)
    let minimum = try #require(icmp.minimum)
    let maximum = try #require(icmp.maximum)
    let average = try #require(icmp.average)
    #expect(minimum > .zero && minimum <= average && average <= maximum)
    #expect(try #require(icmp.jitter) <= maximum - minimum)
    #expect(icmp.hopLimit == 64)
  }

  @Test("Payloads from nothing to a whole packet", arguments: [0, 4, 8, 1_472, 100_000])
  func payloads(bytes: Int) throws {
    let pair = try VethPair()
    let asked = try request("icmp://10.9.0.1", .icmp(ICMPOptions(payloadBytes: bytes)))
    #expect(check(asked, in: pair.client)?.state == .up)
  }

  @Test func missingNeighbour() throws {
    let pair = try VethPair()
    // A neighbour that never answers: the kernel gives up after three solicitations, a second apart.
    let gone = try #require(check(try request("icmp://10.9.0.77"), in: pair.client))
    #expect(gone.state == .down)
    #expect(gone.reason == .hostUnreachable)
    #expect(gone.evidence.icmp?.received == 0)
  }

  @Test func silence() throws {
    let pair = try VethPair()
    try pair.router.sysctl("net.ipv4.icmp_echo_ignore_all", 1)
    let result = try #require(
      check(try request("icmp://10.9.0.1", timeout: .milliseconds(300)), in: pair.client))
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
    #expect(result.evidence.icmp == CheckResult.ICMP(sent: 1, received: 0))
  }

  @Test(
    "An error of the kernel is a local failure",
    arguments: [
      ("unreachable", Reason.hostUnreachable), ("prohibit", .prohibited), ("blackhole", .blackhole),
    ])
  func refusedRoutes(kind: String, reason: Reason) throws {
    let pair = try VethPair()
    try pair.client.ip("route add \(kind) 10.77.0.0/16")
    let echo = try #require(check(try request("icmp://10.77.0.1"), in: pair.client))
    #expect(echo.state == .unreachable)
    #expect(echo.reason == reason)
    let tcp = try #require(check(try request("tcp://10.77.0.1:80"), in: pair.client))
    #expect(tcp.state == .unreachable)
    #expect(tcp.reason == reason)
  }

  @Test func noRouteAtAll() throws {
    let namespace = try Namespace()
    for text in [
      "icmp://10.1.1.1", "icmp://2001:db8::1", "tcp://10.1.1.1:80", "dns://10.1.1.1/a.test", "http://10.1.1.1/",
    ] {
      let result = try #require(check(try request(text), in: namespace))
      #expect(result.state == .unreachable)
      #expect(result.reason == .networkUnreachable)
    }
  }

  @Test("An error of a router is reported as down")
  func toldByARouter() throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    // Otherwise it sends one error a second.
    try pair.router.sysctl("net.ipv4.icmp_ratelimit", 0)
    try pair.router.ip("route add prohibit 10.88.0.0/16")
    for text in ["icmp://10.88.0.1", "tcp://10.88.0.1:80"] {
      let result = try #require(check(try request(text), in: pair.client))
      #expect(result.state == .down)
      #expect(result.reason == .hostUnreachable || result.reason == .prohibited)
    }
    try pair.router.ip("route add unreachable 10.89.0.0/16")
    #expect(check(try request("icmp://10.89.0.1"), in: pair.client)?.reason == .hostUnreachable)
    #expect(check(try request("icmp://10.90.0.1"), in: pair.client)?.reason == .networkUnreachable)
  }

  @Test func lossAndSlowness() throws {
    let pair = try VethPair()
    let slow = ICMPOptions(maximumRoundTrip: .nanoseconds(1))
    #expect(check(try request("icmp://10.9.0.1", .icmp(slow)), in: pair.client)?.reason == .slow)
    // Also of echo replies: at most one a minute to each host (icmp(7)).
    try pair.router.sysctl("net.ipv4.icmp_ratemask", 1)
    try pair.router.sysctl("net.ipv4.icmp_ratelimit", 60_000)
    let some = ICMPOptions(count: 3, spacing: .milliseconds(50), maximumLoss: 0.1)
    let asked = try request("icmp://10.9.0.1", .icmp(some), timeout: .seconds(2))
    let found = try #require(check(asked, in: pair.client))
    #expect(found.reason == .packetLoss)
    #expect(found.evidence.icmp?.received == 1)
  }

  @Test func vantage() throws {
    let pair = try VethPair()
    try pair.client.ip("addr add 10.9.0.9/24 dev c0")
    for text in ["icmp://10.9.0.1", "tcp://10.9.0.1:9"] {
      var asked = try request(text)
      asked.source = IPAddress("10.9.0.9")
      asked.interface = "c0"
      let result = try #require(check(asked, in: pair.client))
      #expect(text.hasPrefix("tcp") ? result.reason == .refused : result.source == IPAddress("10.9.0.9"))
      asked.source = IPAddress("10.9.0.99")
      let foreign = try #require(check(asked, in: pair.client))
      #expect(foreign.state == .unreachable)
      #expect(foreign.reason == .noSource)
      asked.source = nil
      asked.interface = "nope0"
      let missing = try #require(check(asked, in: pair.client))
      #expect(missing.state == .unreachable)
      #expect(missing.reason == .unknownInterface)
    }
    let linkLocal = try pair.router.ip("-6 -o addr show dev r0 scope link")
    let address = try #require(
      linkLocal.split(separator: " ").first { $0.hasPrefix("fe80") }?.split(separator: "/").first)
    #expect(check(try request("icmp://\(address)%c0"), in: pair.client)?.state == .up)
  }

  @Test("Two hundred concurrent checks have their own results")
  func sweep() throws {
    let pair = try VethPair()
    try pair.router.ip(batch: (0..<100).map { "addr add 10.9.1.\($0 + 1)/32 dev lo" })
    try pair.client.ip("route add 10.9.1.0/24 via 10.9.0.1")
    let results = Locked<[Int: CheckResult]>([:])
    try pair.client.run {
      let resolver = Resolver()
      let prober = SocketProber(resolver: resolver)
      for index in 0..<200 {
        prober.check(try request("icmp://10.9.1.\(index + 1)", timeout: .seconds(2))) { found in
          results.withLock { $0[index] = found }
        }
      }
      _ = eventually { results.withLock { $0.count } == 200 }
      prober.stop()
      resolver.stop()
    }
    let all = results.withLock { $0 }
    #expect(all.count == 200)
    #expect((0..<100).allSatisfy { all[$0]?.state == .up })
    #expect((100..<200).allSatisfy { all[$0]?.state == .down })
    #expect((0..<200).allSatisfy { all[$0]?.address == IPAddress("10.9.1.\($0 + 1)") })
  }

  @Test("A connection without an IPv6 route uses IPv4")
  func nextAddress() throws {
    let pair = try VethPair()
    let results = Locked<CheckResult?>(nil)
    try pair.client.run {
      let dns = try DNSServer { _, _ in
        .addresses([[10, 9, 0, 1], [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]])
      }
      defer { dns.stop() }
      let resolver = Resolver(.init(servers: [dns.address], resolvConfPath: "/dev/null"))
      let prober = SocketProber(resolver: resolver)
      prober.check(try request("tcp://two.test:9")) { found in results.withLock { $0 = found } }
      _ = eventually { results.withLock { $0 } != nil }
      prober.stop()
      resolver.stop()
    }
    let result = try #require(results.withLock { $0 })
    #expect(result.address == IPAddress("10.9.0.1"))
    #expect(result.reason == .refused, "a host without a listener")
  }
}

@Suite("ICMP checks and privileges", .enabled(if: Namespace.isSupported))
struct EchoPrivilegeTests {
  /// Checks inside a namespace, with a prober that is made before or after privileges are dropped.
  private func check(openedBefore: Bool) throws -> CheckResult {
    let namespace = try Namespace()
    let result = Locked<CheckResult?>(nil)
    try namespace.run {
      let resolver = Resolver()
      var prober: SocketProber?
      if openedBefore { prober = SocketProber(resolver: resolver) }
      #expect(Privileges.drop().isNone)
      let made = prober ?? SocketProber(resolver: resolver)
      made.check(try request("icmp://127.0.0.1")) { found in result.withLock { $0 = found } }
      _ = eventually { result.withLock { $0 } != nil }
      made.stop()
      resolver.stop()
    }
    return try #require(result.withLock { $0 })
  }

  @Test("Without a privilege the detail says what is missing")
  func withoutPrivilege() throws {
    let result = try check(openedBefore: false)
    #expect(result.state == .unknown)
    #expect(result.reason == .prohibited)
    #expect(result.detail?.contains("ping_group_range") == true)
  }

  @Test("A prober keeps its sockets when privileges are dropped")
  func openedBefore() throws {
    #expect(try check(openedBefore: true).state == .up)
  }
}
