import NetworkReachability
import ReachabilityModel
import TestSupport
import Testing

/// Policy rules that match the protocol or the port of packets (ip-rule(8)): a check has the route of its own packets.
@Suite(.needsNamespaces) struct TransportRuleTests {
  let pair: VethPair
  var client: Namespace { pair.client }

  /// A router with addresses beyond the link, to which the client has no route but in table 100.
  init() throws {
    pair = try VethPair()
    try pair.router.ip("addr add 10.80.0.1/32 dev r0")
    try pair.router.ip("addr add fd80::1/128 dev r0 nodad")
    try client.ip("route add default via 10.9.0.1 dev c0 table 100")
    try client.ip("-6 route add default via fd09::1 dev c0 table 100")
  }

  private func rules(_ verb: String, _ rule: String) throws {
    for family in ["-4", "-6"] { try client.ip("\(family) rule \(verb) pref 100 \(rule)") }
  }

  private func target(_ text: String) throws -> ReachabilityTarget { try CheckTarget(text).routeTarget }

  private func monitor() throws -> ReachabilityMonitor {
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero))
    try client.run { () throws(KernelError) in try monitor.start() }
    return monitor
  }

  /// A rule, and the targets that it sends to table 100.
  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let targets: [String]
    var testDescription: String { rule }
  }

  static let all = [
    "tcp://10.80.0.1:443", "tcp://10.80.0.1:444", "https://10.80.0.1/", "http://10.80.0.1/", "tls://10.80.0.1:450",
    "dns://10.80.0.1/a.test", "icmp://10.80.0.1", "route://10.80.0.1", "tcp://[fd80::1]:443", "tcp://[fd80::1]:444",
    "https://[fd80::1]/", "http://[fd80::1]/", "tls://[fd80::1]:450", "dns://[fd80::1]/a.test", "icmp://fd80::1",
    "route://fd80::1",
  ]

  static let cases = [
    Case(
      rule: "ipproto tcp dport 443",
      targets: ["tcp://10.80.0.1:443", "https://10.80.0.1/", "tcp://[fd80::1]:443", "https://[fd80::1]/"]),
    Case(
      rule: "dport 443-450",
      targets: [
        "tcp://10.80.0.1:443", "tcp://10.80.0.1:444", "https://10.80.0.1/", "tls://10.80.0.1:450",
        "tcp://[fd80::1]:443",
        "tcp://[fd80::1]:444", "https://[fd80::1]/", "tls://[fd80::1]:450",
      ]),
    Case(rule: "ipproto udp", targets: ["dns://10.80.0.1/a.test", "dns://[fd80::1]/a.test"]),
    Case(rule: "ipproto udp dport 53", targets: ["dns://10.80.0.1/a.test", "dns://[fd80::1]/a.test"]),
    Case(rule: "ipproto icmp", targets: ["icmp://10.80.0.1"]),
    Case(rule: "ipproto ipv6-icmp", targets: ["icmp://fd80::1"]),
    Case(rule: "ipproto tcp", targets: all.filter { !$0.hasPrefix("dns") && !$0.hasPrefix("icmp") }),
    Case(rule: "sport 1024-65534", targets: []),
  ]

  @Test(arguments: cases) func ruleAppliesToTheTargetsThatItMatches(_ example: Case) throws {
    let monitor = try monitor()
    defer { monitor.stop() }
    let targets = try Self.all.map { (text: $0, target: try target($0)) }
    let subscription = try #require(
      monitor.listen(to: .host, watching: targets.map(\.target), on: DeliveryContext { $0() }) { _ in })
    defer { subscription.cancel() }
    func expect(_ reachable: [String], _ comment: String) throws {
      for (text, target) in targets {
        let isReachable = reachable.contains(text)
        #expect(try monitor.evaluate(target).path.status.isReachable == isReachable, "\(comment), \(text)")
        #expect(
          eventually { monitor.verdict(of: target)?.path.status.isReachable == isReachable },
          "\(comment), watched, \(text): \(String(describing: monitor.verdict(of: target)?.path))")
      }
    }
    try expect([], "without a rule")
    try rules("add", "\(example.rule) lookup 100")
    try expect(example.targets, "with the rule")
    try rules("del", "\(example.rule) lookup 100")
    try pair.addDefaultRoutes()
    try expect(Self.all, "with default routes")
    try rules("add", "\(example.rule) unreachable")
    try expect(Self.all.filter { !example.targets.contains($0) }, "with a rule that refuses")
  }

  @Test func watchedTargetsFollowTheRouteOfTheirPort() throws {
    let monitor = try monitor()
    defer { monitor.stop() }
    try rules("add", "ipproto tcp dport 443 lookup 100")
    let (secure, plain) = (try target("https://10.80.0.1/"), try target("http://10.80.0.1/"))
    let subscription = try #require(
      monitor.listen(to: .host, watching: [secure, plain], on: DeliveryContext { $0() }) { _ in })
    defer { subscription.cancel() }
    func isReachable(_ target: ReachabilityTarget) -> Bool? { monitor.verdict(of: target)?.path.status.isReachable }
    #expect(eventually { isReachable(secure) == true && isReachable(plain) == false })
    try client.ip("route del default table 100")
    #expect(eventually { isReachable(secure) == false && isReachable(plain) == false })
    try client.ip("route add default via 10.9.0.1 dev c0 table 100")
    #expect(eventually { isReachable(secure) == true && isReachable(plain) == false })
  }

  /// Of the whole program: checks on request and registered targets.
  @Test func checksAreMadeWhereTheKernelWouldRoute() throws {
    let port = try RegisteredTargetTests.OpenPort(in: pair.router)
    let host = "10.80.0.1:\(port.number)"
    let daemon = try DaemonUnderTest(
      in: client,
      configuration: """
        targets: [{id: t, target: "tcp://\(host)", interval: 1h, timeout: 2s}]
        """)
    func state() throws -> String? { try daemon.get("/targets/t").json["state"]?.text }
    func check() throws -> String? { try daemon.get("/check?target=tcp://\(host)&timeout=2s").json["state"]?.text }
    #expect(try eventually { try state() == "unreachable" })
    #expect(try check() == "unreachable")
    try rules("add", "ipproto tcp dport \(port.number) lookup 100")
    #expect(try check() == "up")
    #expect(try eventually { try state() == "up" })
    try rules("del", "ipproto tcp dport \(port.number) lookup 100")
    #expect(try eventually { try state() == "unreachable" })
    try client.ip("route add default via 10.9.0.1 dev c0")
    #expect(try eventually { try state() == "up" })
    try rules("add", "ipproto tcp dport \(port.number) prohibit")
    #expect(try eventually { try state() == "unreachable" })
    #expect(try check() == "unreachable")
  }
}
