internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// What a run of events says about the next reading.
struct EventBatch {
  /// What the tables will not show.
  var causes: Set<Cause> = []
  /// All links and addresses must be read again.
  var needsTables = false
  /// The links that must be read again, when not all must.
  private(set) var links: Set<UInt32> = []
  /// All addresses must be read again.
  private(set) var needsAddresses = false
  /// The kernel may still be carrying out what it announced.
  var needsBarrier = false
  /// Routes may go another way without an event of their own, wherever they lead.
  var affectsAllRoutes = false
  /// The blocks of routes and rules that came, went or changed.
  var blocks: Set<RouteChanges.Block> = []
  /// Events may be missing: what was listed of routes before may be out of date.
  var isAfterLoss = false
  /// When the first datagram was received, on CLOCK_MONOTONIC; nil when none was.
  private(set) var receivedAt: Duration?
  /// Event messages.
  var events: UInt64 = 0
  /// Datagrams.
  var datagrams: UInt64 = 0
  /// Overruns of the receive buffer.
  var overruns: UInt64 = 0
  /// Which routes may differ.
  var changes: RouteChanges { RouteChanges(blocks: blocks, isAny: affectsAllRoutes) }
  /// True when nothing was received.
  var isEmpty: Bool { datagrams == 0 && overruns == 0 }

  /// True when links or addresses must be read again.
  var touchesTables: Bool { needsTables || needsAddresses || !links.isEmpty }

  /// True when something must be read; what was received may be of no interest.
  var needsReading: Bool { !blocks.isEmpty || touchesTables || affectsAllRoutes || !causes.isEmpty }

  /// True when nothing must be read: a wake-up for another reason.
  var isIdle: Bool { isEmpty && !needsReading }

  /// Everything is read again, though nothing was lost: the first reading, and polling.
  static let everything: EventBatch = {
    var batch = EventBatch()
    batch.needsTables = true
    batch.addUnannouncedChange()
    batch.isAfterLoss = true
    return batch
  }()

  /// Takes in that the machine slept: its network may be another now.
  mutating func addSleep() {
    causes.insert(.resume)
    needsTables = true
    addUnannouncedChange()
  }

  /// Takes in a datagram.
  ///
  /// - Parameters:
  ///   - datagram: what was received.
  ///   - neighbours: what is known of IPv6 routers.
  mutating func add(_ datagram: NetlinkBytes, _ neighbours: inout NeighbourTracker) {
    datagrams += 1
    receivedAt = receivedAt ?? KernelClock.uptime
    var added = EventBatch()
    // A plain copy would make the set of causes be copied at the next insertion.
    swap(&added, &self)
    let isComplete = NetlinkDecoder.forEachMessage(in: datagram) { added.add($0, &neighbours) }
    swap(&added, &self)
    // What cannot be read might have been anything.
    if !isComplete { addLoss() }
  }

  /// Takes in that events were lost.
  mutating func addLoss() {
    causes.insert(.resync)
    needsTables = true
    addUnannouncedChange()
    isAfterLoss = true
  }

  /// Takes in what an earlier batch found and nobody has read for yet.
  mutating func merge(_ other: EventBatch) {
    causes.formUnion(other.causes)
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

  private mutating func add(_ message: NetlinkMessage, _ neighbours: inout NeighbourTracker) {
    events += 1
    switch message.type {
    case RTM_NEWLINK, RTM_DELLINK:
      // struct ifinfomsg: family, padding, type, index.
      if let index: UInt32 = message.body.load(4) { addLink(index) } else { needsTables = true }
      addUnannouncedChange()
    // Of an address that comes, the kernel tells before it gives dead legs of multipath routes back their life.
    case RTM_NEWADDR, RTM_DELADDR:
      needsAddresses = true
      addUnannouncedChange()
    case RTM_NEWNETCONF, RTM_DELNETCONF: addUnannouncedChange()
    case RTM_NEWROUTE:
      if addRoute(message.body) {
        causes.insert(message.flags & Int32(NLM_F_REPLACE) != 0 ? .routeReplaced : .routeAdded)
      }
    case RTM_DELROUTE:
      if addRoute(message.body) { causes.insert(.routeRemoved) }
      // IPv4 tells of it first and unlinks the route then (fib_table_delete in net/ipv4/fib_trie.c); IPv6 does not.
      if message.body.load(0) == UInt8(AF_INET) { needsBarrier = true }
    case RTM_NEWRULE, RTM_DELRULE:
      causes.insert(.ruleChanged)
      addUnannouncedChange()
      if let block = NetlinkDecoder.ruleBlock(message.body) { blocks.insert(block) }
    // Of a resilient group whose buckets move, too (ip-nexthop(8)).
    case RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWNEXTHOPBUCKET:
      causes.insert(.nexthopChanged)
      addUnannouncedChange()
    case RTM_NEWNEIGH, RTM_DELNEIGH:
      if neighbours.isChanged(by: message) {
        causes.insert(.neighbourChanged)
        blocks.insert(Self.everyIPv6Route)
      }
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

  /// Notes what the kernel carries out behind its own event, and of whose routes it tells nothing.
  private mutating func addUnannouncedChange() {
    needsBarrier = true
    affectsAllRoutes = true
  }

  /// Notes the block of a route.
  ///
  /// - Returns: whether it is a cause to name. Routes that come and go with every link and address are none of their own:
  ///   table local, groups, link-local blocks.
  private mutating func addRoute(_ body: NetlinkBytes) -> Bool {
    guard let block = NetlinkDecoder.routeBlock(body) else {
      // What cannot be read might have been anything.
      addLoss()
      return false
    }
    blocks.insert(block)
    // struct rtmsg: the sixth byte says who made it; what the kernel puts there goes with addresses.
    let isKernels = body.load(5) == UInt8(RTPROT_KERNEL)
    if block.table == UInt32(RT_TABLE_LOCAL.rawValue), isKernels { return false }
    let (first, length) = (block.prefix.address, block.prefix.length)
    guard first.family == .ipv6 else { return true }
    return !(first.isMulticast && length >= 8 || first.isLinkLocal && length >= 10)
  }
}
