import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// IPv6 routers that stop answering: the kernel goes over to the next best without a route event.
@Suite(.enabled(if: Namespace.isSupported)) struct RouterTests {
  @Test func theNextBestRouterIsTakenAndTheFirstAgain() throws {
    let running = try RunningSource(hasDefaults: false)
    let client = running.client
    try client.sysctl("net.ipv6.conf.all.forwarding", 0)
    try client.ip(batch: [
      "route add ::/0 via fd09::8 dev c0 metric 10", "route add ::/0 via fd09::1 dev c0 metric 20",
    ])
    func gateway() -> IPAddress? { running.observer.answer(RunningSource.ipv6)?.route?.hops.first?.gateway }
    #expect(eventually { gateway() == "fd09::8" })
    let heard = running.observer.readings.count
    // As after three seconds without an answer.
    try client.ip("neigh replace fd09::8 lladdr 02:00:00:00:00:08 dev c0 nud reachable router")
    try client.ip("neigh replace fd09::8 dev c0 nud failed")
    #expect(eventually { gateway() == "fd09::1" })
    try client.ip("neigh replace fd09::8 lladdr 02:00:00:00:00:08 dev c0 nud reachable router")
    #expect(eventually { gateway() == "fd09::8" })
    try client.ip("neigh replace fd09::8 dev c0 nud failed")
    #expect(eventually { gateway() == "fd09::1" })
    try client.ip("neigh del fd09::8 dev c0")
    #expect(eventually { gateway() == "fd09::8" })
    let causes = running.observer.readings.dropFirst(heard).flatMap(\.causes)
    #expect(causes.isEmpty, "no route was added, removed or replaced")
  }

  @Test func hostsThatComeAndGoWakeNobody() throws {
    let running = try RunningSource()
    let before = running.source.counters.datagrams
    for number in 20..<60 {
      try running.client.ip("neigh add 10.9.0.\(number) lladdr 02:00:00:00:00:\(number) dev c0 nud reachable")
      try running.client.ip("neigh add fd09::\(number) lladdr 02:00:00:00:00:\(number) dev c0 nud reachable")
    }
    try running.client.ip("route add 203.0.113.0/24 via 10.9.0.1")
    #expect(eventually { running.observer.causes.contains(.routeAdded) })
    // The route, and what the kernel itself finds out about its router meanwhile.
    #expect(running.source.counters.datagrams - before < 20)
    try running.client.ip("neigh add fd09::99 lladdr 02:00:00:00:00:99 dev c0 nud reachable router")
    #expect(eventually { running.source.counters.datagrams - before > 1 })
  }
}
