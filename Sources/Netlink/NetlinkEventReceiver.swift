internal import CNetlink
internal import EventLoop
internal import Glibc
internal import Locks
internal import Logging
internal import ReachabilityModel

/// Receives the kernel's events.
///
/// Confined to the netlink thread.
struct NetlinkEventReceiver {
  private let settings: NetlinkSource.Settings
  private let logger: Logger
  private let shared: NetlinkShared
  /// Nil before the first ``open(in:token:)``, after an error, and where the kernel provides no events.
  private var socket: NetlinkSocket?
  private var neighbours = NetlinkNeighbourTracker()
  /// The filter passes the events of all IPv6 neighbours, not only of those that failed.
  private var receivesAllNeighbours = false
  /// When the failed neighbours are read again, as an uptime; nil while none has failed.
  private(set) var nextNeighbourCheck: Duration?
  /// True from a loss until the queue was empty once.
  ///
  /// Until then the kernel discards further events and reports only the first loss (`NETLINK_S_CONGESTED` in
  /// net/netlink/af_netlink.c): a reading made before then does not include all of them.
  private var isOverrunning = false
  private var overrunsToLog: UInt64 = 0
  private var nextOverrunLog = Duration.zero

  init(settings: NetlinkSource.Settings, logger: Logger, shared: NetlinkShared) {
    self.settings = settings
    self.logger = logger
    self.shared = shared
  }

  /// Whether the kernel reports changes; without events everything must be read periodically.
  var isOpen: Bool { socket != nil }

  /// Opens the socket and joins the groups, unless it is open or events are switched off.
  ///
  /// - Returns: whether events begin with this call.
  /// - Throws: a ``KernelError`` when no socket can be opened; a kernel without events is logged instead.
  mutating func open(in poller: Poller, token: UInt64) throws(KernelError) -> Bool {
    guard socket == nil, settings.listensToEvents else { return false }
    let new = try NetlinkSocket(bufferBytes: settings.receiveBufferBytes)
    do throws(KernelError) {
      try join(new)
    } catch {
      // gVisor and some seccomp filters do not support rtnetlink events.
      logger.notice(
        "kernel events are not available, polling instead",
        metadata: ["error": "\(error)", "interval": "\(settings.pollInterval)"])
      return false
    }
    do throws(EventLoopError) {
      try poller.add(new.number, .readable, token: token)
    } catch {
      throw KernelError(error)
    }
    socket = new
    return true
  }

  private mutating func join(_ socket: NetlinkSocket) throws(KernelError) {
    for group in [
      RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
      RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
    ] { try socket.join(group) }
    try socket.filterNeighbours(.failed)
    receivesAllNeighbours = false
    try socket.join(RTNLGRP_NEIGH)
  }

  /// Receives the queued datagrams, up to ``Limits/datagramsPerBatch``.
  ///
  /// - Parameter hasError: epoll has reported an error of the socket.
  /// - Returns: what the events mean for the next reading.
  /// - Throws: a ``KernelError`` for a broken socket, which ``open(in:token:)`` replaces.
  mutating func receive(hasError: Bool = false) throws(KernelError) -> NetlinkEventBatch {
    var batch = NetlinkEventBatch()
    guard let socket else { return batch }
    if isOverrunning { batch.addLoss() }
    receiving: for _ in 0..<Limits.datagramsPerBatch {
      let received: NetlinkSocket.Received
      do throws(KernelError) {
        received = try socket.receive(blocking: false)
      } catch {
        self.socket = nil
        throw error
      }
      switch received {
      case .datagram(let datagram): batch.add(datagram, &neighbours)
      case .nothing:
        isOverrunning = false
        break receiving
      case .lost: addOverrun(to: &batch)
      }
    }
    if hasError, batch.overruns == 0, socket.takeError() != 0 { addOverrun(to: &batch) }
    if !batch.isEmpty { count(batch) }
    return batch
  }

  private mutating func addOverrun(to batch: inout NetlinkEventBatch) {
    isOverrunning = true
    batch.overruns += 1
    batch.addLoss()
  }

  private mutating func count(_ batch: NetlinkEventBatch) {
    shared.counters.withLock { counters in
      counters.events += batch.events
      counters.datagrams += batch.datagrams
      counters.overruns += batch.overruns
    }
    guard batch.overruns > 0 else { return }
    overrunsToLog += batch.overruns
    let now = KernelClock.uptime
    guard now >= nextOverrunLog else { return }
    nextOverrunLog = now + Limits.logWindow
    logger.warning(
      "kernel events were lost, reading everything again", metadata: ["overruns": .stringConvertible(overrunsToLog)])
    overrunsToLog = 0
  }

  /// Follows the IPv6 neighbours that have failed.
  ///
  /// While one has failed, the events of all are received, because that of a neighbour that is reachable again may lack the
  /// router flag. They are also read every ``Limits/neighbourCheck``: a packet to a failed neighbour starts a new
  /// resolution, during which the kernel uses its routes, without an event (`__neigh_event_send` in
  /// net/core/neighbour.c).
  ///
  /// - Parameters:
  ///   - queries: reads the failed neighbours.
  ///   - afterLoss: events may be missing, so that the known neighbours may be wrong.
  ///   - uptime: the current time.
  /// - Returns: whether a neighbour has failed or recovered without an event.
  /// - Throws: a ``KernelError`` when the kernel refuses.
  mutating func followRouters(
    _ queries: NetlinkQuerySocket, afterLoss: Bool, at uptime: Duration
  ) throws(KernelError) -> Bool {
    guard socket != nil else {
      nextNeighbourCheck = nil
      return false
    }
    let isDue = nextNeighbourCheck.map { $0 <= uptime } ?? false
    var isChanged = false
    if isDue || afterLoss || neighbours.hasFailures && !receivesAllNeighbours {
      // The filter first, then the table: a neighbour that became reachable before the filter sent no event.
      try filter(allNeighbours: true)
      isChanged = neighbours.update(to: try queries.failedNeighbours())
    }
    try filter(allNeighbours: neighbours.hasFailures)
    if !neighbours.hasFailures {
      nextNeighbourCheck = nil
    } else if isDue || nextNeighbourCheck == nil {
      nextNeighbourCheck = uptime + Limits.neighbourCheck
    }
    return isChanged
  }

  private mutating func filter(allNeighbours: Bool) throws(KernelError) {
    guard allNeighbours != receivesAllNeighbours else { return }
    try socket?.filterNeighbours(allNeighbours ? .all : .failed)
    receivesAllNeighbours = allNeighbours
  }
}
