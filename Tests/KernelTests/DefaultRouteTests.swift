import TestSupport
import Testing

/// The default route comes, goes, moves and refuses.
@Suite(.needsNamespaces) struct DefaultRouteTests {
  static let reachable = "reachable c0 ethernet via 10.9.0.1 from 10.9.0.2"
  static let gone = "status notReachable noRoute | notReachable noRoute | notReachable noRoute"

  @Test func addedAndDeletedDefaultRouteAreOneEventEach() throws {
    try comesAndGoes(try KernelFixture())
  }

  @Test(.enabled(if: DaemonUnderTest.canDropPrivileges, "needs setpriv and root"))
  func unprivilegedProcessReportsTheSame() throws {
    let watch = try KernelFixture(privileges: .none)
    let status = try watch.client.run("/bin/cat", ["/proc/\(watch.daemon.child.id)/status"])
    #expect(status.contains("CapEff:\t0000000000000000") && status.contains("CapBnd:\t0000000000000000"))
    try comesAndGoes(watch)
  }

  private func comesAndGoes(_ watch: KernelFixture) throws {
    #expect(watch.status.document["status"] == "notReachable" && watch.status.document["reason"] == "noRoute")
    try watch.client.ip("route add default via 10.9.0.1 dev c0")
    let gained = try watch.only()
    #expect(gained.line == "status reachable ethernetOrWiFi | \(Self.reachable) | notReachable noRoute")
    #expect(gained.causes == ["routeAdded"] && gained.flags == ["reachable"])
    #expect(gained.event.data["initial"] == false)
    try watch.client.ip("route del default")
    let lost = try watch.only()
    #expect(lost.line == Self.gone)
    #expect(lost.causes == ["routeRemoved"] && lost.flags.isEmpty)
  }

  @Test func replacedDefaultRouteIsAPathChange() throws {
    // The wait is long, so that a slow machine cannot make an outage of two commands.
    let watch = try KernelFixture(settle: 500) { pair in
      try pair.addSecondInterface()
      try pair.client.ip("route add default via 10.9.0.1 dev c0")
    }
    try watch.client.ip("route replace default via 10.8.0.1 dev d0")
    let there = try watch.only()
    #expect(there.line == "path | reachable d0 ethernet via 10.8.0.1 from 10.8.0.2 | notReachable noRoute")
    #expect(there.causes == ["routeReplaced"])
    #expect(StateEvent.families(there.event.data["from"] ?? .null) == "\(Self.reachable) | notReachable noRoute")
    try watch.client.ip(batch: ["route del default", "route add default via 10.9.0.1 dev c0"])
    let back = try watch.only()
    #expect(back.line == "path | \(Self.reachable) | notReachable noRoute")
    // The reading for the first command may have seen the second one's work, before its event.
    #expect(back.causes.contains("routeRemoved"))
  }

  @Test func changedGatewayOrSourceIsAPathChange() throws {
    let watch = try KernelFixture { pair in try pair.client.ip("route add default via 10.9.0.1 dev c0") }
    try watch.client.ip("route replace default via 10.9.0.9 dev c0")
    #expect(
      try watch.only().line == "path | reachable c0 ethernet via 10.9.0.9 from 10.9.0.2 | notReachable noRoute")
    try watch.client.ip("addr add 10.9.0.3/24 dev c0")
    try watch.verifyStatus()
    try watch.client.ip("route replace default via 10.9.0.9 dev c0 src 10.9.0.3")
    #expect(
      try watch.only().line == "path | reachable c0 ethernet via 10.9.0.9 from 10.9.0.3 | notReachable noRoute")
    // What decides is the better metric, and nothing is told of the other.
    try watch.client.ip("route add default via 10.9.0.1 dev c0 metric 500")
    try watch.verifyStatus()
    try watch.client.ip("route del default via 10.9.0.9 dev c0")
    #expect(try watch.only().line == "path | \(Self.reachable) | notReachable noRoute")
  }

  @Test(arguments: [false, true]) func rejectRoutesHaveTheirReasons(isIPv6: Bool) throws {
    let watch = try KernelFixture()
    let ip = isIPv6 ? "-6 route" : "route"
    func line(_ reason: String) -> String {
      let families = ["notReachable \(isIPv6 ? "noRoute" : reason)", "notReachable \(isIPv6 ? reason : "noRoute")"]
      return "path | " + families.joined(separator: " | ")
    }
    for (index, (type, reason)) in [
      ("blackhole", "blackhole"), ("unreachable", "unreachableRoute"), ("prohibit", "prohibited"),
    ].enumerated() {
      try watch.client.ip("\(ip) add \(type) default metric \(20 - index)")
      let news = try watch.only()
      #expect(news.line == line(reason))
      #expect(news.causes == ["routeAdded"])
      #expect(watch.status.document["reason"]?.text == reason)
    }
    try watch.client.ip("\(ip) del prohibit default metric 18")
    #expect(try watch.only().line == line("unreachableRoute"))
    try watch.client.ip("\(ip) add throw default metric 1")
    #expect(try watch.only().line == line("noRoute"))
  }

  @Test func blackholeRouteIsAnOutageWithItsReason() throws {
    let watch = try KernelFixture { pair in try pair.client.ip("route add default via 10.9.0.1 dev c0 metric 100") }
    try watch.client.ip("route add blackhole default metric 50")
    #expect(try watch.only().line == "status notReachable blackhole | notReachable blackhole | notReachable noRoute")
    try watch.client.ip("route del blackhole default metric 50")
    #expect(
      try watch.only().line == "status reachable ethernetOrWiFi | \(Self.reachable) | notReachable noRoute")
  }
}
