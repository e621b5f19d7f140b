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
  /// Event messages.
  var events: UInt64 = 0
  /// Datagrams.
  var datagrams: UInt64 = 0
  /// Overruns of the receive buffer.
  var overruns: UInt64 = 0
  /// True when nothing was received.
  var isEmpty: Bool { datagrams == 0 && overruns == 0 }

  /// Everything is read again, though nothing was lost: the first reading, and polling.
  static let everything: EventBatch = {
    var batch = EventBatch()
    batch.needsTables = true
    batch.needsBarrier = true
    return batch
  }()

  /// Takes in that the machine slept: its network may be another now.
  mutating func addSleep() {
    causes.insert(.resume)
    needsTables = true
    needsBarrier = true
  }

  /// Takes in a datagram.
  mutating func add(_ datagram: NetlinkBytes) {
    datagrams += 1
    var added = EventBatch()
    // A plain copy would make the set of causes be copied at the next insertion.
    swap(&added, &self)
    let isWhole = NetlinkDecoder.forEachMessage(in: datagram) { added.add($0) }
    swap(&added, &self)
    // What cannot be read might have been anything.
    if !isWhole { addLoss() }
  }

  /// Takes in that events were lost.
  mutating func addLoss() {
    causes.insert(.resync)
    needsTables = true
    needsBarrier = true
  }

  /// Takes in what an earlier batch found and nobody has read for yet.
  mutating func merge(_ other: EventBatch) {
    causes.formUnion(other.causes)
    needsTables = needsTables || other.needsTables
    needsBarrier = needsBarrier || other.needsBarrier
    events += other.events
    datagrams += other.datagrams
    overruns += other.overruns
  }

  private mutating func add(_ message: NetlinkMessage) {
    events += 1
    switch message.type {
    case RTM_NEWLINK, RTM_DELLINK, RTM_DELADDR, RTM_NEWNETCONF, RTM_DELNETCONF:
      needsTables = true
      needsBarrier = true
    case RTM_NEWADDR: needsTables = true
    case RTM_NEWROUTE:
      if !isNoise(message.body) {
        causes.insert(message.flags & Int32(NLM_F_REPLACE) != 0 ? .routeReplaced : .routeAdded)
      }
    case RTM_DELROUTE: if !isNoise(message.body) { causes.insert(.routeRemoved) }
    case RTM_NEWRULE, RTM_DELRULE:
      causes.insert(.ruleChanged)
      needsBarrier = true
    case RTM_NEWNEXTHOP, RTM_DELNEXTHOP:
      causes.insert(.nexthopChanged)
      needsBarrier = true
    case Int(NLMSG_OVERRUN): addLoss()
    default: break
    }
  }

  /// Routes that come and go with every link and address: table local, groups, link-local blocks.
  ///
  /// They are no cause of their own; the reading is made all the same.
  private func isNoise(_ body: NetlinkBytes) -> Bool {
    guard let length: UInt8 = body.load(1), let shortTable: UInt8 = body.load(4) else { return false }
    var table = UInt32(shortTable)
    var destination: IPAddress?
    body.forEachAttribute(from: 12) { type, value in
      if type == Int(RTA_TABLE.rawValue) { table = value.load(0) ?? table }
      if type == Int(RTA_DST.rawValue) { destination = value.address }
    }
    if table == UInt32(RT_TABLE_LOCAL.rawValue) { return true }
    guard let destination, destination.family == .ipv6 else { return false }
    return destination.isMulticast && length >= 8 || destination.isLinkLocal && length >= 10
  }
}
