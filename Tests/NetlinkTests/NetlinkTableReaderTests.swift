import CNetlink
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// What of links and addresses is read again after an event.
@Suite struct EventBatchTableTests {
  func batch(_ datagrams: [[UInt8]]) -> NetlinkEventBatch {
    var batch = NetlinkEventBatch()
    var neighbours = NetlinkNeighbourTracker()
    for bytes in datagrams { unsafe bytes.withUnsafeBytes { unsafe batch.add(NetlinkBytes($0), &neighbours) } }
    return batch
  }

  func link(_ index: UInt8, _ type: Int = RTM_NEWLINK) -> [UInt8] {
    [32, 0, 0, 0, UInt8(type), 0] + [UInt8](repeating: 0, count: 14) + [index] + [UInt8](repeating: 0, count: 11)
  }

  @Test func linkEventReadsOnlyThatLink() {
    let batch = batch([link(7), link(9, RTM_DELLINK), link(7)])
    #expect(batch.links == [7, 9] && !batch.needsAddresses && !batch.needsTables)
    #expect(batch.needsBarrier && batch.changes.isAny && batch.touchesTables && batch.needsReading)
  }

  @Test func resilientGroupBucketsCauseNoReading() {
    let bytes: [UInt8] = [24, 0, 0, 0, UInt8(RTM_NEWNEXTHOPBUCKET), 0] + [UInt8](repeating: 0, count: 18)
    let batch = batch([bytes])
    #expect(batch.causes == [.nexthopChanged] && batch.changes.isAny && !batch.touchesTables)
  }

  @Test func manualLocalRouteIsACause() {
    var byHand = CapturedDatagrams.localRoute
    #expect(batch([byHand]).causes.isEmpty)
    #expect(batch([byHand]).minorCauses == [.routeAdded])
    // struct nlmsghdr has 16 bytes, and rtm_protocol is the sixth of struct rtmsg; 4 is RTPROT_STATIC.
    byHand[21] = 4
    #expect(batch([byHand]).causes == [.routeAdded] && batch([byHand]).minorCauses.isEmpty)
  }

  @Test func sysctlIsAMinorCause() {
    let bytes: [UInt8] = [24, 0, 0, 0, UInt8(RTM_NEWNETCONF), 0] + [UInt8](repeating: 0, count: 18)
    let all = batch([bytes])
    #expect(all.causes.isEmpty && all.minorCauses == [.configuration] && all.changes.isAny)
  }

  @Test func manyLinkEventsReadAllLinks() {
    let all = batch((1...20).map { link($0) })
    #expect(all.needsTables)
    var merged = batch((1...4).map { link($0) })
    #expect(!merged.needsTables)
    merged.merge(batch([link(5)]))
    #expect(merged.needsTables)
  }

  @Test func addressEventReadsAllAddresses() {
    let batch = batch([CapturedDatagrams.addressDump])
    #expect(batch.needsAddresses && batch.links.isEmpty && !batch.needsTables)
    var merged = NetlinkEventBatch()
    merged.merge(batch)
    #expect(merged.needsAddresses && merged.touchesTables)
  }

  @Test func linkEventWithoutIndexReadsAllLinks() {
    let bytes: [UInt8] = [20, 0, 0, 0, UInt8(RTM_NEWLINK), 0] + [UInt8](repeating: 0, count: 14)
    #expect(batch([bytes]).needsTables)
  }
}

@Suite(.enabled(if: Namespace.isSupported), .serialized) struct NetlinkTableReaderTests {
  @Test func singleLinkReadingEqualsTheDump() throws {
    let pair = try VethPair()
    let queries = try pair.client.run { () throws(KernelError) in try NetlinkQuerySocket() }
    let all = try queries.links()
    #expect(all.count >= 2)
    for (index, link) in all { #expect(try queries.link(index) == link) }
    #expect(try queries.link(0x7fff_fff0) == nil)
  }

  /// One look at all links and addresses.
  func whole(_ running: RunningSource) throws -> KernelTables {
    let queries = try running.client.run { () throws(KernelError) in try NetlinkQuerySocket() }
    var classifier = InterfaceClassifier(sysfsRoot: "/sys/class/net")
    let links = try queries.links().values.sorted { $0.interface.index < $1.interface.index }
    return KernelTables(interfaces: classifier.classify(links), addresses: try queries.addresses())
  }

  /// Requires that what was read piece by piece becomes what one look at all of it shows.
  func requireWhole(_ running: RunningSource, _ place: String) throws {
    var whole = KernelTables()
    let became = try eventually {
      whole = try self.whole(running)
      return running.observer.last?.tables == whole
    }
    try #require(became, "\(place): \(String(describing: running.observer.last?.tables)) is not \(whole)")
  }

  @Test(arguments: [1, 2, 3]) func partialReadingsEqualACompleteOne(seed: UInt64) throws {
    let running = try RunningSource()
    var random = SeededGenerator(seed: seed)
    for round in 0..<40 {
      // Some of it is refused (a link that is there, or not): then something else happened.
      try? running.client.ip(batch: (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.change(&random) })
      try requireWhole(running, "round \(round)")
    }
    #expect(running.source.counters.auditDifferences == 0 && running.source.counters.failures == 0)
  }

  /// Kept over a time in which the link is off, addresses are tentative again, without an event of theirs.
  @Test func addressesThatChangeWithTheirLink() throws {
    let running = try RunningSource(hasDefaults: false)
    try running.client.sysctl("net.ipv6.conf.c0.keep_addr_on_down", 1)
    try running.client.ip(batch: ["link set c0 addrgenmode none", "addr flush dev c0 scope link"])
    try running.client.ip("addr add fd00:1::1/64 dev c0")
    // The kernel ends duplicate address detection in a work queue, also where it has nothing to wait for.
    try #require(eventually { try !running.client.ip("-6 -o addr show dev c0").contains("tentative") })
    try requireWhole(running, "before")
    #expect(running.observer.last?.tables.addresses.contains { $0.address == "fd00:1::1" && $0.isUsable } == true)
    try running.client.sysctl("net.ipv6.conf.c0.accept_dad", 1)
    try running.pair.router.ip("link set r0 down")
    for state in ["down", "up"] {
      try running.client.ip("link set c0 \(state)")
      try requireWhole(running, state)
    }
    #expect(running.observer.last?.tables.addresses.contains { $0.address == "fd00:1::1" && $0.isUsable } == false)
  }

  /// A link's lower device may come from, and go to, another namespace; only that device has an event.
  @Test func peerMovesBetweenNamespaces() throws {
    let running = try RunningSource(hasDefaults: false)
    try running.pair.router.ip("link set r0 down")
    try requireWhole(running, "before")
    func lower() -> UInt32? { running.observer.last?.tables.interface(named: "c0")?.lowerIndex }
    #expect(lower() == nil)
    try running.pair.router.ip("link set r0 netns \(running.client.path)")
    try requireWhole(running, "in")
    #expect(lower() != nil)
    try running.client.ip("link set r0 netns \(running.pair.router.path)")
    try requireWhole(running, "out")
    #expect(lower() == nil)
  }

  static func change(_ random: inout SeededGenerator) -> String {
    let (number, other) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
    let changes = [
      "link add t\(number) type bridge", "link add t\(number) type veth peer name t\(other)", "link del t\(number)",
      "link add t\(number) link c0 type macvlan", "link set t\(number) up", "link set t\(number) down",
      "link set t\(number) mtu \(1300 + other)", "link set t\(number) name t\(other)", "addr flush dev t\(number)",
      "addr add 198.51.100.\(number)/2\(other) dev t\(number)",
      "addr del 198.51.100.\(number)/2\(other) dev t\(number)",
      "addr add 2001:db8::\(number)/6\(other) dev t\(number) nodad", "link set c0 mtu \(1400 + number)",
    ]
    return changes[Int.random(in: changes.indices, using: &random)]
  }
}
