import Glibc
import TestSupport
import Testing

/// Links and addresses go, and take routes along that the kernel says nothing about.
@Suite(.needsNamespaces) struct LinkTests {
  static let reachable = "reachable c0 ethernet via 10.9.0.1 from 10.9.0.2"
  static let back = "status reachable ethernetOrWiFi | \(reachable) | notReachable noRoute"

  private func watch() throws -> KernelFixture {
    try KernelFixture { pair in try pair.client.ip("route add default via 10.9.0.1 dev c0") }
  }

  @Test func linkDownRemovesItsRoutes() throws {
    let watch = try watch()
    try watch.client.ip("link set c0 down")
    let lost = try watch.only()
    #expect(lost.line == DefaultRouteTests.gone)
    #expect(lost.causes.contains("linkDown"))
    try watch.client.ip("link set c0 up")
    try watch.waitUp("c0")
    try watch.verifyStatus()
    #expect(watch.status.document["status"] == "notReachable")
    try watch.client.ip("route add default via 10.9.0.1 dev c0")
    let gained = try watch.only()
    #expect(gained.line == Self.back && gained.causes == ["routeAdded"])
  }

  @Test func linkDownAffectsBothFamilies() throws {
    let watch = try KernelFixture { pair in try pair.addDefaultRoutes() }
    #expect(watch.status.document["status"] == "reachable")
    try watch.client.ip("link set c0 down")
    let lost = try watch.only()
    #expect(lost.line == DefaultRouteTests.gone && lost.causes.contains("linkDown"))
  }

  @Test func carrierLossAndRecovery() throws {
    let watch = try watch()
    try watch.pair.router.ip("link set r0 down")
    let lost = try watch.only()
    #expect(
      lost.line
        == "status notReachable linkDown | notReachable linkDown c0 ethernet via 10.9.0.1 | notReachable noRoute")
    #expect(lost.causes == ["carrierLost"])
    try watch.pair.router.ip("link set r0 up")
    let gained = try watch.only()
    #expect(gained.line == Self.back && gained.causes == ["carrierGained"])
  }

  @Test func lastAddressRemovalRemovesTheDefaultRoute() throws {
    let watch = try watch()
    try watch.client.ip("addr add 10.9.1.2/24 dev c0")
    try watch.verifyStatus()
    try watch.client.ip("addr del 10.9.1.2/24 dev c0")
    // One address is left, and with it the route.
    try watch.verifyStatus()
    try watch.client.ip("addr del 10.9.0.2/24 dev c0")
    let lost = try watch.only()
    #expect(lost.line == DefaultRouteTests.gone)
    #expect(lost.causes.contains("addressRemoved"))
    try watch.client.ip("addr add 10.9.0.2/24 dev c0")
    try watch.verifyStatus()
    try watch.client.ip("route add default via 10.9.0.1 dev c0")
    #expect(try watch.only().line == Self.back)
  }

  @Test func deletedLinkRemovesItsRoutesAndAddresses() throws {
    let watch = try watch()
    try watch.client.ip("link del c0")
    let news = try watch.next()
    #expect(news.line == DefaultRouteTests.gone && news.causes.contains("linkDown"))
    try watch.nextInterface { $0.interface?["name"] == "c0" && $0.event.data["removed"] == true }
    try watch.verifyStatus()
  }

  @Test func dormantLinkIsUnreachable() throws {
    let watch = try watch()
    try watch.client.ip("link set c0 state dormant")
    let lost = try watch.only()
    #expect(
      lost.line
        == "status notReachable connectionRequired | notReachable connectionRequired c0 ethernet via 10.9.0.1"
        + " | notReachable noRoute")
    #expect(lost.flags == ["transientConnection", "reachable", "connectionRequired"])
    try watch.client.ip("link set c0 state up")
    #expect(try watch.only().line == Self.back)
  }

  @Test func dormantModeLinkRecoversAsDormant() throws {
    let watch = try watch()
    try watch.client.ip("link set c0 mode dormant")
    try watch.verifyStatus()
    try watch.pair.router.ip("link set r0 down")
    #expect(try watch.only().line.hasPrefix("status notReachable linkDown | "))
    try watch.pair.router.ip("link set r0 up")
    #expect(
      try watch.only().line
        == "path | notReachable connectionRequired c0 ethernet via 10.9.0.1 | notReachable noRoute")
    let flags = try watch.daemon.get("/status").json["flags"]
    #expect(flags == ["transientConnection", "reachable", "connectionRequired"])
  }

  @Test func hundredOutagesAreTwoHundredEvents() throws {
    let watch = try watch()
    for outage in 1...100 {
      let isLink = outage.isMultiple(of: 2)
      try watch.client.ip(isLink ? "link set c0 down" : "route del default")
      pause(.milliseconds(30), because: "an outage of three times the settle time is one")
      #expect(try watch.nextStatus().line == DefaultRouteTests.gone)
      if isLink { try watch.client.ip("link set c0 up") }
      try watch.client.ip("route add default via 10.9.0.1 dev c0")
      #expect(try watch.nextStatus().line == Self.back)
    }
    try watch.verifyStatus()
  }
}

extension KernelFixture {
  /// The next `status` event.
  ///
  /// A route over a link that is only just coming up is a `path` before it is a way.
  fileprivate func nextStatus() throws -> StateEvent {
    while true {
      let news = try next()
      if news.name == "status" { return news }
      #expect(news.line.hasPrefix("path | notReachable linkDown"))
    }
  }
}
