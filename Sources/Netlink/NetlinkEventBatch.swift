internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// What a sequence of events means for the next reading.
struct NetlinkEventBatch {
  /// The causes that the tables do not show.
  var causes: Set<Cause> = []
  /// The causes that count only if nothing else explains a change.
  private(set) var minorCauses: Set<Cause> = []
  /// All links and addresses must be read again.
  var needsTables = false
  /// The links that must be read again, when not all must.
  private(set) var links: Set<UInt32> = []
  /// All addresses must be read again.
  private(set) var needsAddresses = false
  /// The kernel may still be making the changes that it announced.
  var needsBarrier = false
  /// The next hop of any route may change without an event for that route.
  var affectsAllRoutes = false
  /// The blocks of routes and rules that were added, removed or changed.
  var blocks: Set<RouteChanges.Block> = []
  /// Events may be missing: the routes that were listed before may be out of date.
  var isAfterLoss = false
  /// When the first datagram was received, on CLOCK_MONOTONIC; nil when none was.
  private(set) var receivedAt: Duration?
  var events: UInt64 = 0
  var datagrams: UInt64 = 0
  /// Overruns of the receive buffer.
  var overruns: UInt64 = 0
  var changes: RouteChanges { RouteChanges(blocks: blocks, isAny: affectsAllRoutes) }
  /// True when nothing was received.
  var isEmpty: Bool { datagrams == 0 && overruns == 0 }

  /// True when links or addresses must be read again.
  var touchesTables: Bool { needsTables || needsAddresses || !links.isEmpty }

  /// True when something must be read; events without consequences need no reading.
  var needsReading: Bool { !blocks.isEmpty || touchesTables || affectsAllRoutes || !causes.isEmpty }

  /// True when nothing must be read: a wake-up for another reason.
  var isIdle: Bool { isEmpty && !needsReading }

  /// A batch that reads everything although nothing was lost: for the first reading, and for polling.
  static let everything: NetlinkEventBatch = {
    var batch = NetlinkEventBatch()
    batch.needsTables = true
    batch.addUnannouncedChange()
    batch.isAfterLoss = true
    return batch
  }()

  /// Records that the machine slept: it may now be in another network.
  mutating func addSleep() {
    causes.insert(.resume)
    needsTables = true
    addUnannouncedChange()
  }

  /// Adds a datagram.
  ///
  /// - Parameters:
  ///   - datagram: the received datagram.
  ///   - neighbours: the IPv6 neighbours that have failed.
  mutating func add(_ datagram: NetlinkBytes, _ neighbours: inout NetlinkNeighbourTracker) {
    datagrams += 1
    receivedAt = receivedAt ?? KernelClock.uptime
    var added = NetlinkEventBatch()
    // A plain copy would cause a copy of the set of causes at the next insertion.
    swap(&added, &self)
    let isComplete = NetlinkDecoder.forEachMessage(in: datagram) { added.add($0, &neighbours) }
    swap(&added, &self)
    // The part that cannot be read may have contained any event.
    if !isComplete { addLoss() }
  }

  /// Records that an IPv6 neighbour has failed or recovered, which may change the choice among all IPv6 routes.
  mutating func addNeighbourChange() {
    causes.insert(.neighbourChanged)
    blocks.insert(Self.everyIPv6Route)
  }

  /// Records that events were lost.
  mutating func addLoss() {
    causes.insert(.resync)
    needsTables = true
    addUnannouncedChange()
    isAfterLoss = true
  }

  /// Adds an earlier batch for which no reading was made yet.
  mutating func merge(_ other: NetlinkEventBatch) {
    causes.formUnion(other.causes)
    minorCauses.formUnion(other.minorCauses)
    needsTables = needsTables || other.needsTables
    needsAddresses = needsAddresses || other.needsAddresses
    for link in other.links { addLink(link) }
    needsBarrier = needsBarrier || other.needsBarrier
    affectsAllRoutes = affectsAllRoutes || other.affectsAllRoutes
    blocks.formUnion(other.blocks)
    isAfterLoss = isAfterLoss || other.isAfterLoss
    receivedAt = [receivedAt, other.receivedAt].compactMap(\.self).min()
    events += other.events
    datagrams += other.datagrams
    overruns += other.overruns
  }

  private mutating func add(_ message: NetlinkMessage, _ neighbours: inout NetlinkNeighbourTracker) {
    events += 1
    switch message.type {
    case RTM_NEWLINK, RTM_DELLINK:
      // struct ifinfomsg: family, padding, type, index.
      if let index: UInt32 = message.body.load(4) { addLink(index) } else { needsTables = true }
      addUnannouncedChange()
    // The kernel reports a new address before it revives the dead next hops of multipath routes.
    case RTM_NEWADDR, RTM_DELADDR:
      needsAddresses = true
      addUnannouncedChange()
    case RTM_NEWNETCONF, RTM_DELNETCONF:
      minorCauses.insert(.configuration)
      addUnannouncedChange()
    case RTM_NEWROUTE:
      addRoute(message.body, message.flags & Int32(NLM_F_REPLACE) != 0 ? .routeReplaced : .routeAdded)
    case RTM_DELROUTE:
      addRoute(message.body, .routeRemoved)
      // IPv4 sends the event first and then unlinks the route (fib_table_delete in net/ipv4/fib_trie.c); IPv6 does not.
      if message.body.load(0) == UInt8(AF_INET) { needsBarrier = true }
    case RTM_NEWRULE, RTM_DELRULE:
      causes.insert(.ruleChanged)
      addUnannouncedChange()
      if let block = NetlinkDecoder.ruleBlock(message.body) { blocks.insert(block) }
    // A resilient group also reports that its buckets moved (ip-nexthop(8)).
    case RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWNEXTHOPBUCKET:
      causes.insert(.nexthopChanged)
      addUnannouncedChange()
    case RTM_NEWNEIGH, RTM_DELNEIGH:
      if neighbours.isChanged(by: message) { addNeighbourChange() }
    case Int(NLMSG_OVERRUN): addLoss()
    default: break
    }
  }

  private static let everyIPv6Route = RouteChanges.Block(IPPrefix(IPAddress(ipv6: 0, 0), length: 0), table: 0)

  private mutating func addLink(_ index: UInt32) {
    guard !needsTables else { return }
    links.insert(index)
    if links.count > Limits.linksReadIndividually { needsTables = true }
  }

  /// Records a change that the kernel completes after its event, and for whose routes it sends no events.
  private mutating func addUnannouncedChange() {
    needsBarrier = true
    affectsAllRoutes = true
  }

  /// Records the block of a route.
  ///
  /// Routes that are added and removed with every link and address are minor causes: table local, multicast groups,
  /// link-local blocks. The kernel may announce them before the link or the address.
  private mutating func addRoute(_ body: NetlinkBytes, _ cause: Cause) {
    // An event that cannot be read may concern any route.
    guard let block = NetlinkDecoder.routeBlock(body) else { return addLoss() }
    blocks.insert(block)
    // struct rtmsg: the sixth byte is the protocol; routes with RTPROT_KERNEL are added and removed with addresses.
    let isKernels = body.load(5) == UInt8(RTPROT_KERNEL)
    let (first, length) = (block.prefix.address, block.prefix.length)
    let isMinor =
      block.table == UInt32(RT_TABLE_LOCAL.rawValue) && isKernels
      || first.family == .ipv6 && (first.isMulticast && length >= 8 || first.isLinkLocal && length >= 10)
    if isMinor { minorCauses.insert(cause) } else { causes.insert(cause) }
  }
}
