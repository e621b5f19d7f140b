import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Datagrams that the kernel really sent, then cut and bent ones.
struct NetlinkDecoderTests {
  func contents(_ bytes: [UInt8]) -> (contents: [NetlinkContent], isComplete: Bool) {
    var contents: [NetlinkContent] = []
    let isComplete = unsafe bytes.withUnsafeBytes { raw in
      unsafe NetlinkDecoder.forEachMessage(in: NetlinkBytes(raw)) { contents.append(NetlinkDecoder.content(of: $0)) }
    }
    return (contents, isComplete)
  }

  func content(_ bytes: [UInt8]) throws -> NetlinkContent {
    let (contents, isComplete) = contents(bytes)
    #expect(isComplete && contents.count == 1)
    return try #require(contents.first)
  }

  @Test func links() throws {
    let flags: Interface.Flags = Interface.Flags(rawValue: 0x1002)
    #expect(
      try content(CapturedDatagrams.macvlan)
        == .link(
          NetlinkLinkMessage(
            interface: Interface(
              index: 7, name: "m0", type: .other, flags: flags, operationalState: .down, lowerIndex: 4, kind: "macvlan")
          )))
    #expect(
      try content(CapturedDatagrams.vethPeer)
        == .link(
          NetlinkLinkMessage(
            interface: Interface(
              index: 6, name: "d0", type: .other, flags: flags, operationalState: .down, lowerIndex: 5, kind: "veth"))))
    #expect(try content(CapturedDatagrams.deletedLink) == .other)
  }

  @Test func addresses() throws {
    let own = InterfaceAddress(interfaceIndex: 4, prefix: "10.7.0.1/32", flags: .init(rawValue: 0x80))
    #expect(try content(CapturedDatagrams.pointToPoint) == .address(own))
    #expect(try content(CapturedDatagrams.deletedAddress) == .other)
    #expect(
      try content(CapturedDatagrams.tentative)
        == .address(
          InterfaceAddress(interfaceIndex: 4, prefix: "fd07::1/64", flags: [.tentative, .init(rawValue: 0x80)])))
  }

  @Test func singlePathRoutesAreDecoded() throws {
    var route = Route(prefix: "0.0.0.0/0", metric: 100, hops: [.init(interfaceIndex: 4, gateway: "10.9.0.1")])
    #expect(try content(CapturedDatagrams.defaultRoute) == .route(NetlinkRouteMessage(route: route)))
    route.hops = [.init(interfaceIndex: 4, gateway: "10.9.0.9")]
    #expect(try content(CapturedDatagrams.replacedRoute) == .route(NetlinkRouteMessage(route: route)))
    #expect(try content(CapturedDatagrams.deletedRoute) == .other)
    route = Route(prefix: "203.0.113.0/24", hops: [.init(interfaceIndex: 4, gateway: "fd09::1")])
    #expect(try content(CapturedDatagrams.otherFamily) == .route(NetlinkRouteMessage(route: route)))
    route = Route(
      type: .local, prefix: "10.8.0.2/32", table: 255, protocol: 2, hops: [.init(interfaceIndex: 6)], source: "10.8.0.2"
    )
    #expect(try content(CapturedDatagrams.localRoute) == .route(NetlinkRouteMessage(route: route)))
    // 600 seconds and the two ticks after which the kernel has surely dropped it.
    route = Route(
      prefix: "2001:db8:2::/48", metric: 1024, hops: [.init(interfaceIndex: 4, gateway: "fd09::1")],
      expiresIn: .milliseconds(600_020))
    #expect(try content(CapturedDatagrams.expiring) == .route(NetlinkRouteMessage(route: route)))
  }

  @Test func multipathAndEmptyRoutesAreDecoded() throws {
    var route = Route(
      prefix: "198.51.100.0/24", table: 1000,
      hops: [.init(interfaceIndex: 4, gateway: "10.9.0.1"), .init(interfaceIndex: 6, gateway: "10.8.0.1")])
    #expect(try content(CapturedDatagrams.multipath) == .route(NetlinkRouteMessage(route: route)))
    route = Route(
      prefix: "2001:db8:1::/48", metric: 1024,
      hops: [.init(interfaceIndex: 4, gateway: "fd09::1"), .init(interfaceIndex: 4, gateway: "fd09::9")])
    #expect(try content(CapturedDatagrams.multipath6) == .route(NetlinkRouteMessage(route: route)))
    route = Route(type: .blackhole, prefix: "198.51.101.0/24", hops: [])
    #expect(try content(CapturedDatagrams.blackhole) == .route(NetlinkRouteMessage(route: route)))
    route = Route(prefix: "198.51.102.0/24", hops: [])
    #expect(
      try content(CapturedDatagrams.byNexthop)
        == .route(NetlinkRouteMessage(route: route, nexthopObject: 7)))
  }

  @Test func eventsWithoutDetails() throws {
    for event in [CapturedDatagrams.nexthop, CapturedDatagrams.rule, CapturedDatagrams.netconf] {
      #expect(try content(event) == .other)
    }
    #expect(try content([16, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == .other)
    #expect(try content([16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == .other)
  }

  @Test func answersWithoutObjects() throws {
    #expect(
      try content(CapturedDatagrams.badRequest)
        == .ack(NetlinkAck(errno: 22, text: "ipv4: Invalid values in header for route get request")))
    #expect(try content(CapturedDatagrams.noRoute) == .ack(NetlinkAck(errno: 101)))
    #expect(try content(CapturedDatagrams.dumpEnd) == .done(NetlinkAck(errno: 0)))
    var failed = CapturedDatagrams.dumpEnd
    failed.replaceSubrange(16..<20, with: [0xfb, 0xff, 0xff, 0xff])
    #expect(try content(failed) == .done(NetlinkAck(errno: 5)))
    failed.replaceSubrange(16..<20, with: [0, 0, 0, 0x80])
    #expect(try content(failed) == .done(NetlinkAck(errno: .max)))
  }

  @Test func severalMessagesInOneDatagram() {
    let (contents, isComplete) = contents(CapturedDatagrams.addressDump)
    let expected: [(UInt32, IPPrefix)] = [(1, "127.0.0.1/8"), (4, "10.9.0.2/24"), (6, "10.8.0.2/24")]
    #expect(isComplete)
    #expect(
      contents
        == expected.map {
          .address(InterfaceAddress(interfaceIndex: $0.0, prefix: $0.1, flags: .init(rawValue: 0x80)))
        })
  }

  @Test func interruptedDumpIsDetected() {
    var bytes = CapturedDatagrams.dumpEnd
    var isInterrupted: [Bool] = []
    for flags in [UInt8(0x02), 0x12] {
      bytes[6] = flags
      unsafe bytes.withUnsafeBytes { raw in
        _ = unsafe NetlinkDecoder.forEachMessage(in: NetlinkBytes(raw)) { isInterrupted.append($0.isInterrupted) }
      }
    }
    #expect(isInterrupted == [false, true])
  }

  @Test func truncatedDatagramDoesNotTrap() {
    for (name, bytes) in CapturedDatagrams.all {
      let whole = contents(bytes).contents
      for length in 0..<bytes.count {
        let cut = contents(Array(bytes[..<length]))
        #expect(!cut.isComplete || cut.contents.count < whole.count, "\(name) cut to \(length)")
        #expect(cut.contents == Array(whole[..<cut.contents.count]), "\(name) cut to \(length)")
      }
    }
  }

  /// As ``truncatedDatagramDoesNotTrap()``, but the header is right: the body's own lengths must hold.
  @Test func truncatedMessageDoesNotTrap() {
    for (_, bytes) in CapturedDatagrams.all {
      for length in 16..<bytes.count {
        var cut = Array(bytes[..<length])
        cut[0] = UInt8(truncatingIfNeeded: length)
        cut[1] = UInt8(truncatingIfNeeded: length >> 8)
        #expect(contents(cut).isComplete)
      }
    }
  }

  @Test func corruptedBytesDoNotTrap() {
    var random = SeededGenerator(seed: 4711)
    for (_, bytes) in CapturedDatagrams.all {
      for _ in 0..<2000 {
        var bent = bytes
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          bent[Int.random(in: bent.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        }
        _ = contents(bent)
        var batch = NetlinkEventBatch()
        var neighbours = NetlinkNeighbourTracker()
        unsafe bent.withUnsafeBytes { unsafe batch.add(NetlinkBytes($0), &neighbours) }
      }
    }
  }

  @Test func causesOfEvents() {
    func causes(_ bytes: [UInt8]) -> Set<Cause> {
      var batch = NetlinkEventBatch()
      var neighbours = NetlinkNeighbourTracker()
      unsafe bytes.withUnsafeBytes { unsafe batch.add(NetlinkBytes($0), &neighbours) }
      return batch.causes
    }
    #expect(causes(CapturedDatagrams.defaultRoute) == [.routeAdded])
    #expect(causes(CapturedDatagrams.replacedRoute) == [.routeReplaced])
    #expect(causes(CapturedDatagrams.deletedRoute) == [.routeRemoved])
    #expect(causes(CapturedDatagrams.localRoute).isEmpty)
    #expect(causes(CapturedDatagrams.rule) == [.ruleChanged])
    #expect(causes(CapturedDatagrams.nexthop) == [.nexthopChanged])
    #expect(causes(CapturedDatagrams.macvlan).isEmpty)
    #expect(causes([1, 2, 3]) == [.resync])
  }

  @Test func removedRouteNeedsTheBarrierAndTouchesNoOther() {
    func batch(_ bytes: [UInt8]) -> NetlinkEventBatch {
      var batch = NetlinkEventBatch()
      var neighbours = NetlinkNeighbourTracker()
      unsafe bytes.withUnsafeBytes { unsafe batch.add(NetlinkBytes($0), &neighbours) }
      return batch
    }
    let removed = batch(CapturedDatagrams.deletedRoute)
    #expect(removed.needsBarrier && !removed.changes.isAny && removed.changes.blocks.count == 1)
    let added = batch(CapturedDatagrams.defaultRoute)
    #expect(!added.needsBarrier && !added.changes.isAny && added.changes.blocks.count == 1)
    let rule = batch(CapturedDatagrams.rule)
    #expect(rule.needsBarrier && rule.changes.isAny)
  }
}
