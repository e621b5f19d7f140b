import TestSupport
import Testing

/// Ways out that are no plain default route.
@Suite(.needsNamespaces) struct DefaultPathTests {
  static let reachable = "reachable c0 ethernet via 10.9.0.1 from 10.9.0.2"
  static let reachableIPv6 = "reachable c0 ethernet via fd09::1 from fd09::2"
  static let back = "status reachable ethernetOrWiFi | \(reachable) | notReachable noRoute"

  @Test func oneFamilySuffices() throws {
    let watch = try KernelFixture()
    try watch.client.ip("-6 route add default via fd09::1 dev c0")
    #expect(
      try watch.only().line == "status reachable ethernetOrWiFi | notReachable noRoute | \(Self.reachableIPv6)")
    try watch.client.ip("route add default via 10.9.0.1 dev c0")
    #expect(try watch.only().line == "path | \(Self.reachable) | \(Self.reachableIPv6)")
    try watch.client.ip("-6 route del default")
    #expect(try watch.only().line == "path | \(Self.reachable) | notReachable noRoute")
    try watch.client.ip("-6 route add default via fd09::1 dev c0")
    #expect(try watch.only().line == "path | \(Self.reachable) | \(Self.reachableIPv6)")
    try watch.client.ip("route del default")
    #expect(try watch.only().line == "path | notReachable noRoute | \(Self.reachableIPv6)")
    try watch.client.ip("-6 route del default")
    #expect(try watch.only().line == DefaultRouteTests.gone)
  }

  @Test func ipv4RouteThroughAnIPv6Gateway() throws {
    let watch = try KernelFixture()
    try watch.client.ip("-4 route add default via inet6 fd09::1 dev c0")
    #expect(
      try watch.only().line
        == "status reachable ethernetOrWiFi | reachable c0 ethernet via fd09::1 from 10.9.0.2 | notReachable noRoute")
  }

  @Test func oneNextHopOfAMultipathRouteSuffices() throws {
    let watch = try KernelFixture { pair in
      try pair.addSecondInterface()
      try pair.client.ip("route add default nexthop via 10.9.0.1 dev c0 nexthop via 10.8.0.1 dev d0")
    }
    #expect(StateEvent.families(watch.status.document) == "\(Self.reachable) | notReachable noRoute")
    try watch.pair.router.ip("link set r0 down")
    let other = try watch.only()
    #expect(other.line.hasPrefix("path | reachable d0 ethernet via 10.8.0.1"))
    try watch.client.ip("link set d1 down")
    let lost = try watch.only()
    #expect(
      lost.line
        == "status notReachable linkDown | notReachable linkDown c0 ethernet via 10.9.0.1 | notReachable noRoute")
    try watch.client.ip("link set d1 up")
    let gained = try watch.only()
    #expect(gained.line.hasPrefix("status reachable ethernetOrWiFi | reachable d0 ethernet via 10.8.0.1"))
  }

  @Test func addressUsesTheNextHopOfTheKernel() throws {
    let watch = try KernelFixture { pair in
      try pair.addSecondInterface()
      try pair.client.ip("route add default nexthop via 10.9.0.1 dev c0 nexthop via 10.8.0.1 dev d0")
    }
    try watch.pair.router.ip("link set r0 down")
    _ = try watch.only()
    var devices: Set<String> = []
    for number in 1...24 {
      let address = "198.51.100.\(number)"
      let truth = try JSONValue(try watch.client.run("/sbin/ip", ["-json", "route", "get", address]))[0]
      let device = try #require(truth?["dev"]?.text)
      devices.insert(device)
      let answer = try watch.daemon.get("/hosts/\(address)").json
      let route = answer["addresses"]?[0]?["route"]
      #expect(route?["interface"]?.text == device && answer["isReachable"] == .bool(device == "d0"), "\(answer)")
      if device == "d0" { #expect(route?["source"]?.text == truth?["prefsrc"]?.text, "\(answer)") }
    }
    #expect(devices == ["c0", "d0"])
  }

  @Test func defaultRouteInAnotherTableThroughARule() throws {
    let watch = try KernelFixture()
    try watch.client.ip("route add default via 10.9.0.1 dev c0 table 100")
    try watch.verifyStatus()
    try watch.client.ip("rule add from all lookup 100")
    let gained = try watch.only()
    #expect(gained.line == Self.back && gained.causes == ["ruleChanged"])
    try watch.client.ip("rule del from all lookup 100")
    let lost = try watch.only()
    #expect(lost.line == DefaultRouteTests.gone && lost.causes == ["ruleChanged"])
  }

  @Test func rejectingRuleIsAnOutage() throws {
    let watch = try KernelFixture { pair in try pair.client.ip("route add default via 10.9.0.1 dev c0") }
    for (action, reason) in [("unreachable", "noRoute"), ("blackhole", "blackhole"), ("prohibit", "prohibited")] {
      try watch.client.ip("rule add from all priority 1000 \(action)")
      let lost = try watch.only()
      #expect(lost.line == "status notReachable \(reason) | notReachable \(reason) | notReachable noRoute")
      #expect(lost.causes == ["ruleChanged"])
      try watch.client.ip("rule del from all priority 1000")
      #expect(try watch.only().line == Self.back)
    }
  }

  @Test func defaultRouteAsTwoHalfPrefixes() throws {
    let watch = try KernelFixture()
    try watch.client.ip("route add 0.0.0.0/1 via 10.9.0.1 dev c0")
    #expect(try watch.only().line == Self.back)
    try watch.client.ip("route add 128.0.0.0/1 via 10.9.0.1 dev c0")
    try watch.verifyStatus()
    // The other half does the same.
    try watch.client.ip("route del 0.0.0.0/1")
    try watch.verifyStatus()
    try watch.client.ip("route del 128.0.0.0/1")
    #expect(try watch.only().line == DefaultRouteTests.gone)
  }

  @Test(arguments: [0, 1]) func deletedNexthopObjectRemovesItsRoutes(compatible: Int) throws {
    let watch = try KernelFixture { pair in
      try pair.client.sysctl("net.ipv4.nexthop_compat_mode", compatible)
      try pair.client.ip("nexthop add id 7 via 10.9.0.1 dev c0")
    }
    try watch.client.ip("route add default nhid 7")
    #expect(try watch.only().line == Self.back)
    try watch.client.ip("nexthop del id 7")
    let lost = try watch.only()
    #expect(lost.line == DefaultRouteTests.gone && lost.causes.contains("nexthopChanged"))
  }

  @Test func changedNexthopObjectIsAPathChange() throws {
    let watch = try KernelFixture { pair in
      try pair.client.ip("nexthop add id 7 via 10.9.0.1 dev c0")
      try pair.client.ip("route add default nhid 7")
    }
    try watch.client.ip("nexthop replace id 7 via 10.9.0.9 dev c0")
    let news = try watch.only()
    #expect(news.line == "path | reachable c0 ethernet via 10.9.0.9 from 10.9.0.2 | notReachable noRoute")
    #expect(news.causes.contains("nexthopChanged"))
  }

  @Test func expiredRouteIsDetectedWithoutAnEvent() throws {
    let watch = try KernelFixture()
    try watch.client.ip("-6 route add default via fd09::1 dev c0 expires 3")
    #expect(
      try watch.next().line == "status reachable ethernetOrWiFi | notReachable noRoute | \(Self.reachableIPv6)")
    let lost = try watch.next(within: .seconds(60))
    #expect(lost.line == DefaultRouteTests.gone && lost.causes == ["routeExpired"])
    try watch.verifyStatus()
  }

  @Test func renewedRouteLifetimeKeepsThePath() throws {
    let watch = try KernelFixture()
    try watch.client.ip("-6 route add default via fd09::1 dev c0 proto ra expires 2")
    #expect(try watch.next().name == "status")
    // As a router's next advertisement does.
    try watch.client.ip("-6 route replace default via fd09::1 dev c0 proto ra expires 4")
    try watch.verifyStatus()
    let lost = try watch.next(within: .seconds(60))
    #expect(lost.line == DefaultRouteTests.gone && lost.causes == ["routeExpired"])
  }

  @Test func localRouteIsNoDefaultPath() throws {
    let watch = try KernelFixture()
    try watch.client.ip("route add default dev lo")
    try watch.verifyStatus()
    #expect(watch.status.document["status"] == "notReachable")
  }
}
