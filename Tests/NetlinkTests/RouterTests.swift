import CNetlink
import Glibc
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// IPv6 routers that stop answering: the kernel goes over to the next best without a route event.
@Suite(.enabled(if: Namespace.isSupported)) struct RouterTests {
  @Test func routerFailoverAndReturn() throws {
    let running = try RunningSource(hasDefaults: false)
    let client = running.client
    try client.sysctl("net.ipv6.conf.all.forwarding", 0)
    // The preferred one last: once it is read, no event of a route is still to come.
    try client.ip(batch: [
      "route add ::/0 via fd09::1 dev c0 metric 20", "route add ::/0 via fd09::8 dev c0 metric 10",
    ])
    func gateway() -> IPAddress? { running.observer.answer(RunningSource.ipv6)?.route?.hops.first?.gateway }
    #expect(eventually { gateway() == "fd09::8" })
    let receivedAt = running.observer.readings.count
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
    let causes = Set(running.observer.readings.dropFirst(receivedAt).flatMap(\.causes))
    #expect(causes == [.neighbourChanged], "no route was added, removed or replaced")
  }

  /// A gateway that a person wrote into a route need not call itself a router, and may come back by asking for us.
  @Test(arguments: ["stale", "reachable", "permanent"]) func gatewayWithoutRouterFlagIsFollowed(
    state: String
  ) throws {
    let running = try RunningSource(hasDefaults: false)
    let client = running.client
    try client.ip(batch: [
      "route add ::/0 via fd09::8 dev c0 metric 10", "route add ::/0 via fd09::1 dev c0 metric 20",
    ])
    func gateway() -> IPAddress? { running.observer.answer(RunningSource.ipv6)?.route?.hops.first?.gateway }
    // The kernel tells nothing of one that is made in this state.
    try client.ip("neigh replace fd09::8 lladdr 02:00:00:00:00:08 dev c0 nud reachable")
    for _ in 0..<3 {
      try client.ip("neigh replace fd09::8 dev c0 nud failed")
      #expect(eventually { gateway() == "fd09::1" })
      try client.ip("neigh replace fd09::8 lladdr 02:00:00:00:00:08 dev c0 nud \(state)")
      #expect(eventually { gateway() == "fd09::8" })
    }
    try Self.expectDeafness(running)
  }

  @Test func recoveredRouterIsNoticed() throws {
    let pair = try VethPair()
    try pair.client.ip(batch: [
      "route add ::/0 via fd09::8 dev c0 metric 10", "route add ::/0 via fd09::1 dev c0 metric 20",
      "neigh replace fd09::8 dev c0 nud failed",
    ])
    let observer = RecordingObserver([RouteQuery(RunningSource.ipv6)])
    let source = NetlinkSource(logger: .init(label: "test"))
    try pair.client.run { () throws(KernelError) in try source.start(observer) }
    defer { source.stop() }
    func gateway() -> IPAddress? { observer.answer(RunningSource.ipv6)?.route?.hops.first?.gateway }
    #expect(eventually { gateway() == "fd09::1" })
    try pair.client.ip("neigh replace fd09::8 lladdr 02:00:00:00:00:08 dev c0 nud stale")
    #expect(eventually { gateway() == "fd09::8" })
  }

  @Test func neighboursBeyondTheLimitAreStillNoticed() {
    func message(_ number: UInt8, _ state: Int32) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 48)
      bytes.replaceSubrange(0..<6, with: [48, 0, 0, 0, UInt8(RTM_NEWNEIGH), 0])
      bytes[16] = UInt8(AF_INET6)
      bytes[20] = 2
      bytes[24] = UInt8(state)
      bytes.replaceSubrange(28..<33, with: [20, 0, UInt8(NDA_DST), 0, 0xfd])
      bytes[47] = number
      return bytes
    }
    let many = (0..<2000).map {
      NetlinkNeighbourTracker.Neighbour(interfaceIndex: 1, address: IPAddress(ipv6: 0xfd << 56, $0))
    }
    var neighbours = NetlinkNeighbourTracker(failed: Set(many))
    func isChanged(_ bytes: [UInt8]) -> Bool {
      var batch = NetlinkEventBatch()
      unsafe bytes.withUnsafeBytes { unsafe batch.add(NetlinkBytes($0), &neighbours) }
      return !batch.blocks.isEmpty
    }
    #expect(isChanged(message(1, NUD_FAILED)))
    #expect(isChanged(message(1, NUD_STALE)))
    neighbours = NetlinkNeighbourTracker()
    #expect(!isChanged(message(1, NUD_STALE)))
    #expect(isChanged(message(1, NUD_FAILED)) && neighbours.hasFailures)
    #expect(!isChanged(message(1, NUD_FAILED)))
    #expect(isChanged(message(1, NUD_STALE)) && !neighbours.hasFailures)
  }

  /// Without a watched neighbour, hosts wake no thread.
  static func expectDeafness(_ running: RunningSource) throws {
    try running.client.ip("route add 203.0.113.0/24 via 10.9.0.1")
    #expect(eventually { running.observer.causes.contains(.routeAdded) })
    let before = running.source.counters.datagrams
    try running.client.ip(
      batch: (20..<60).map { "neigh add fd09::\($0) lladdr 02:00:00:00:00:\($0) dev c0 nud reachable" })
    try running.client.ip("route del 203.0.113.0/24 via 10.9.0.1")
    #expect(eventually { running.observer.causes.contains(.routeRemoved) })
    #expect(running.source.counters.datagrams - before < 20)
  }

  @Test func changingHostsCauseNoReading() throws {
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
    let receivedAt = running.source.counters.datagrams
    try running.client.ip("neigh replace fd09::20 dev c0 nud failed")
    #expect(eventually { running.source.counters.datagrams > receivedAt })
  }

  /// A packet to a router that has failed starts a new resolution, and the kernel uses the router again until that fails
  /// too; no event says so.
  @Test func aFailedRouterThatIsResolvedAgainIsNoticed() throws {
    let running = try RunningSource(hasDefaults: false)
    let client = running.client
    try client.sysctl("net.ipv6.conf.all.forwarding", 0)
    try client.ip(batch: [
      "route add ::/0 via fd09::8 dev c0 metric 10", "route add unreachable ::/0 metric 4000",
    ])
    // The kernel reports nothing of one that is made in this state.
    try client.ip("neigh replace fd09::8 lladdr 02:00:00:00:00:08 dev c0 nud reachable")
    try client.ip("neigh replace fd09::8 dev c0 nud failed")
    #expect(eventually { running.observer.answer(RunningSource.ipv6)?.route == nil })
    #expect(try !client.connect(to: "2001:db8::1").isPossible)
    let before = running.observer.readings.count
    // The router is on the link, so that this leaves.
    #expect(try client.connect(to: "fd09::8").isPossible)
    #expect(try client.ip("-6 neigh show fd09::8").contains("INCOMPLETE"))
    #expect(try client.connect(to: "2001:db8::1").isPossible)
    #expect(
      eventually {
        running.observer.readings.dropFirst(before).contains {
          $0.answers[RouteQuery(RunningSource.ipv6)]?.route != nil
        }
      })
    #expect(running.observer.readings.dropFirst(before).first { !$0.causes.isEmpty }?.causes == [.neighbourChanged])
    // No host has fd09::8.
    #expect(eventually { running.observer.answer(RunningSource.ipv6)?.route == nil })
  }
}
