import TestSupport
import Testing

/// Every change of a verdict has a cause, also where the kernel announces its consequence first, or no more than a sysctl.
@Suite(.needsNamespaces) struct ChangeCauseTests {
  /// Two default routes: the better one through `d0`, whose other end is on the same machine.
  private func twoRoutes() throws -> KernelFixture {
    try KernelFixture { pair in
      try pair.addSecondInterface()
      try pair.client.ip(batch: [
        "route add default via 10.8.0.1 dev d0", "route add default via 10.9.0.1 dev c0 metric 100",
      ])
    }
  }

  @Test func sysctlIsACause() throws {
    let watch = try twoRoutes()
    try watch.client.ip("link set d1 down")
    #expect(try watch.only().line.hasPrefix("status notReachable linkDown"))
    try watch.client.sysctl("net.ipv4.conf.d0.ignore_routes_with_linkdown", 1)
    let news = try watch.only()
    #expect(news.line.hasPrefix("status reachable") && news.causes == ["configuration"])
  }

  @Test func removedLinkLocalRouteIsACause() throws {
    let watch = try twoRoutes()
    let reader = try watch.daemon.events("?types=status&host=fe80::7%25c0")
    func next() throws -> StreamEvent {
      while true {
        guard let event = try reader.next() else { throw TestError("the stream ended") }
        if event.name == "host" { return event }
      }
    }
    #expect(try next().data["host"]?["isReachable"] == true)
    try watch.client.ip("-6 route del fe80::/64 dev c0")
    let lost = try next()
    #expect(lost.data["host"]?["isReachable"] == false && lost.data["cause"]?.texts == ["routeRemoved"])
    try watch.client.ip("-6 route add fe80::/64 dev c0 proto kernel")
    #expect(try next().data["cause"]?.texts == ["routeAdded"])
  }
}
