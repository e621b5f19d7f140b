internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// What a run of events says about the next reading.
struct EventBatch {
  /// What the tables will not show.
  var causes: Set<Cause> = []
  /// Links and addresses must be read again.
  var needsTables = false
  /// The kernel may still be flushing routes silently.
  var needsBarrier = false
  /// The blocks of routes and rules that came, went or changed.
  var blocks: Set<RouteChanges.Block> = []
  /// Events may be missing: what was listed of routes before may be out of date.
  var isAfterLoss = false
  /// Event messages.
  var events: UInt64 = 0
  /// Datagrams.
  var datagrams: UInt64 = 0
  /// Overruns of the receive buffer.
  var overruns: UInt64 = 0
  /// Which routes may differ: those of links, addresses, rules and nexthop objects do without an event of their own.
  var changes: RouteChanges { RouteChanges(blocks: blocks, isAny: needsTables || needsBarrier) }
  /// True when nothing was received.
  var isEmpty: Bool { datagrams == 0 && overruns == 0 }

  /// True when nothing must be read: a wake-up for another reason.
  var isQuiet: Bool { isEmpty && blocks.isEmpty && !needsTables && !needsBarrier && causes.isEmpty }

  /// Everything is read again, though nothing was lost: the first reading, and polling.
  static let everything: EventBatch = {
    var batch = EventBatch()
    batch.needsTables = true
    batch.needsBarrier = true
    batch.isAfterLoss = true
    return batch
  }()

  /// Takes in that the machine slept: its network may be another now.
  mutating func addSleep() {
    causes.insert(.resume)
    needsTables = true
    needsBarrier = true
  }

  /// Takes in a datagram.
  ///
  /// - Parameters:
  ///   - datagram: what was received.
  ///   - routers: what is known of IPv6 routers.
  mutating func add(_ datagram: NetlinkBytes, _ routers: inout RouterWatch) {
    datagrams += 1
    var added = EventBatch()
    // A plain copy would make the set of causes be copied at the next insertion.
    swap(&added, &self)
    let isWhole = NetlinkDecoder.forEachMessage(in: datagram) { added.add($0, &routers) }
    swap(&added, &self)
    // What cannot be read might have been anything.
    if !isWhole { addLoss() }
  }

  /// Takes in that events were lost.
  mutating func addLoss() {
    causes.insert(.resync)
    needsTables = true
    needsBarrier = true
    isAfterLoss = true
  }

  /// Takes in what an earlier batch found and nobody has read for yet.
  mutating func merge(_ other: EventBatch) {
    causes.formUnion(other.causes)
    needsTables = needsTables || other.needsTables
    needsBarrier = needsBarrier || other.needsBarrier
    blocks.formUnion(other.blocks)
    isAfterLoss = isAfterLoss || other.isAfterLoss
    events += other.events
    datagrams += other.datagrams
    overruns += other.overruns
  }

  private mutating func add(_ message: NetlinkMessage, _ routers: inout RouterWatch) {
    events += 1
    switch message.type {
    case RTM_NEWLINK, RTM_DELLINK, RTM_DELADDR, RTM_NEWNETCONF, RTM_DELNETCONF:
      needsTables = true
      needsBarrier = true
    case RTM_NEWADDR: needsTables = true
    case RTM_NEWROUTE:
      if addRoute(message.body) {
        causes.insert(message.flags & Int32(NLM_F_REPLACE) != 0 ? .routeReplaced : .routeAdded)
      }
    case RTM_DELROUTE: if addRoute(message.body) { causes.insert(.routeRemoved) }
    case RTM_NEWRULE, RTM_DELRULE:
      causes.insert(.ruleChanged)
      needsBarrier = true
      if let block = NetlinkDecoder.ruleBlock(message.body) { blocks.insert(block) }
    case RTM_NEWNEXTHOP, RTM_DELNEXTHOP:
      causes.insert(.nexthopChanged)
      needsBarrier = true
    case RTM_NEWNEIGH, RTM_DELNEIGH:
      if routers.isChanged(by: message) { blocks.insert(Self.everyIPv6Route) }
    case Int(NLMSG_OVERRUN): addLoss()
    default: break
    }
  }

  private static let everyIPv6Route = RouteChanges.Block(IPPrefix(IPAddress(ipv6: 0, 0), length: 0), table: 0)

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
    if block.table == UInt32(RT_TABLE_LOCAL.rawValue) { return false }
    let (first, length) = (block.prefix.address, block.prefix.length)
    guard first.family == .ipv6 else { return true }
    return !(first.isMulticast && length >= 8 || first.isLinkLocal && length >= 10)
  }
}
