import CNetlink
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// The flush race by itself: the kernel announces a change, and is asked at once, on another processor, about routes that
/// it has yet to flush.
///
/// Without the barrier some of 300 trials see the old route; with it none may.
@Suite(.enabled(if: Namespace.isSupported), .serialized) struct BarrierTests {
  let pair: VethPair
  let events: NetlinkSocket
  let queries: NetlinkQuerySocket

  init() throws {
    pair = try VethPair()
    try pair.client.sysctl("net.ipv6.conf.all.disable_ipv6", 1)
    events = try pair.client.run { () throws(KernelError) in
      let socket = try NetlinkSocket(bufferBytes: 1 << 20, timeout: .seconds(2))
      for group in [RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR] { try socket.join(group) }
      return socket
    }
    queries = try pair.client.run { () throws(KernelError) in try NetlinkQuerySocket() }
  }

  /// Drops what has been heard so far.
  func removeAll() throws {
    while case .datagram = try events.receive(blocking: false) {}
  }

  /// Waits for a message.
  func setNeighbourFilter(_ condition: (NetlinkMessage) -> Bool) throws {
    var isHeard = false
    let limit = ContinuousClock.now + .seconds(20)
    // Asking again and again keeps this thread on its processor; one that sleeps is woken on the writer's, too late.
    while !isHeard {
      guard case .datagram(let datagram) = try events.receive(blocking: false) else {
        if ContinuousClock.now > limit { throw TestError("the event did not come") }
        continue
      }
      NetlinkDecoder.forEachMessage(in: datagram) { isHeard = isHeard || condition($0) }
    }
  }

  /// How often a route was still there right after the event.
  func staleAnswers(change: String, restore: [String], _ condition: (NetlinkMessage) -> Bool) throws -> Int {
    let query = RouteQuery("192.0.2.1")
    // The kernel marks routes dead one by one, the oldest last: many younger ones keep the window open long enough for a
    // slow (debug) build of this test to look through it.
    let younger = (0..<400).map { "route add 198.18.\($0 % 256).\($0 / 256)/32 via 10.9.0.1 metric \($0 + 1)" }
    var stale = 0
    for _ in 0..<300 {
      try pair.client.ip(batch: restore + ["route add default via 10.9.0.1 dev c0"] + younger)
      try removeAll()
      let child = try pair.client.spawn("/sbin/ip", change.split(separator: " ").map(String.init))
      try setNeighbourFilter(condition)
      try queries.barrier()
      if try queries.lookUp([query])[query] != .refused(.noRoute) { stale += 1 }
      try child.wait()
    }
    return stale
  }

  @Test func linkDown() throws {
    let stale = try staleAnswers(change: "link set c0 down", restore: ["link set c0 up"]) {
      guard case .link(let link) = NetlinkDecoder.content(of: $0) else { return false }
      return link.interface.name == "c0" && !link.interface.flags.contains(.up)
    }
    #expect(stale == 0)
  }

  @Test func lastAddressDeleted() throws {
    let stale = try staleAnswers(
      change: "addr del 10.9.0.2/24 dev c0", restore: ["addr replace 10.9.0.2/24 dev c0"]
    ) {
      $0.type == RTM_DELADDR && NetlinkDecoder.address($0.body)?.address == "10.9.0.2"
    }
    #expect(stale == 0)
  }
}

/// The kernel announces the end of an IPv4 route and unlinks it after all listeners were notified.
///
/// Many others who listen, too, keep the window open.
@Suite(.enabled(if: Namespace.isSupported), .serialized) struct RemovalRaceTests {
  @Test func removedRouteIsNotReported() throws {
    let pair = try VethPair()
    // Those who came first are told last.
    let others = try pair.client.run { () throws(KernelError) in
      try (0..<512).map { _ throws(KernelError) in
        let socket = try NetlinkSocket(bufferBytes: 1 << 20)
        try socket.join(RTNLGRP_IPV4_ROUTE)
        return socket
      }
    }
    let query = RouteQuery("192.0.2.1")
    let observer = RecordingObserver([query])
    let source = NetlinkSource(logger: .init(label: "test"))
    try pair.client.run { () throws(KernelError) in try source.start(observer) }
    defer { source.stop() }
    var stale = 0
    for _ in 0..<60 where stale < 3 {
      try pair.client.ip("route add 192.0.2.0/24 via 10.9.0.1 dev c0")
      try #require(observer.waits(query.destination) { $0?.route != nil })
      try pair.client.ip("route del 192.0.2.0/24 via 10.9.0.1 dev c0")
      if !eventually(within: .seconds(5), { observer.answer(query.destination) == .refused(.noRoute) }) { stale += 1 }
    }
    #expect(stale == 0)
    withExtendedLifetime(others) {}
  }
}
