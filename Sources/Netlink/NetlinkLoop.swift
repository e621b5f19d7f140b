internal import CNetlink
internal import Glibc
internal import Locks
internal import Logging
internal import ReachabilityModel
internal import Synchronization

/// What the netlink thread does: wait, drain, read, tell.
///
/// Everything in here belongs to one thread at a time.
final class NetlinkLoop {
  let shared: NetlinkShared
  private let settings: NetlinkSource.Settings
  private let logger: Logger
  private let observer: any KernelObserver
  private let poller: Poller
  /// Nil when the kernel gives us no events: then we poll.
  private var events: NetlinkSocket?
  /// Nil after a failure, until it is opened again.
  private var queries: NetlinkQueries?
  private var reader: TableReader
  /// What was heard and not read for, because the last reading failed.
  private var pending = EventBatch.everything
  private var hasFailed = false
  /// The observer knows of the failure.
  private var hasTold = false
  /// Until when a kernel that does not answer counts as busy.
  private var busyUntil = Duration.zero
  /// True from a loss until the queue was empty once.
  ///
  /// Until then the kernel goes on throwing events away, and says so only the first time (`NETLINK_S_CONGESTED` in
  /// net/netlink/af_netlink.c): a reading made before has not seen them all.
  private var isLosing = false
  /// When everything is next read without an event; nil without events, when every reading does that.
  private var nextAudit: Duration?
  /// Events that were drained while an audit was made, and which nobody has read for.
  private var late = EventBatch()
  private var routers = RouterWatch()
  /// The events of all IPv6 neighbours are let through, not only of those that failed.
  private var hearsAllNeighbours = false
  private var sleep: SleepDetector
  private var overrunsToLog: UInt64 = 0
  private var nextOverrunLog = Duration.zero

  /// Opens everything, and listens before anything is read, so that no change falls in between.
  init(
    settings: NetlinkSource.Settings, logger: Logger, shared: NetlinkShared, observer: any KernelObserver
  ) throws(KernelError) {
    self.settings = settings
    self.logger = logger
    self.shared = shared
    self.observer = observer
    reader = TableReader(
      InterfaceClassifier(sysfsRoot: settings.sysfsRoot, overrides: settings.interfaceOverrides))
    sleep = SleepDetector(at: settings.clock())
    poller = try Poller()
    try openSockets()
    shared.setCaller(poller.caller)
  }

  /// Makes the first reading.
  func readFirst() throws(KernelError) {
    try poller.arm(try read(pending))
    pending = EventBatch()
  }

  /// Waits and reads until the end is asked for.
  func run() {
    while !shared.isStopping {
      do throws(KernelError) {
        sleep.waitBegins(at: settings.clock())
        let wake = try poller.wait()
        noteSleep(sleep.waitEnds(at: settings.clock()))
        shared.counters.withLock { $0.lastProgress = KernelClock.uptime }
        try handle(wake)
      } catch {
        fail(error)
      }
    }
  }

  private func handle(_ wake: Poller.Wake) throws(KernelError) {
    var batch = EventBatch()
    if wake.hasEvents { try drain(into: &batch, hasError: wake.hasError) }
    if !batch.isEmpty { note(batch) }
    pending.merge(batch)
    guard !shared.isStopping else { return }
    if hasFailed {
      // Events do not make a failing kernel answer; only time does.
      guard wake.isDue else { return }
      try openSockets()
    } else {
      guard pending.isNews || wake.isCalled || wake.isDue else {
        // Neighbours that nobody waits for, and the like.
        pending = EventBatch()
        return
      }
      // Without events nobody says what changed.
      if events == nil { pending.merge(.everything) }
    }
    let isAudit = pending.isQuiet && isAuditDue
    if isAudit { pending.merge(.everything) }
    var deadline = try read(pending, isAudit: isAudit)
    pending = EventBatch()
    if !late.isEmpty {
      swap(&pending, &late)
      deadline = try read(pending)
      pending = EventBatch()
    }
    hasFailed = false
    hasTold = false
    try poller.arm(deadline)
  }

  private var isAuditDue: Bool { events != nil && nextAudit.map { $0 <= KernelClock.uptime } ?? false }

  /// Reads what a batch may have changed and tells the observer.
  ///
  /// - Returns: when to read again even if nothing happens.
  private func read(_ heard: EventBatch, isAudit: Bool = false) throws(KernelError) -> Duration? {
    guard let queries else { throw KernelError("read", errno: ENOTCONN) }
    var batch = heard
    try reader.read(batch, queries)
    // An audit compares with what was heard so far.
    if batch.needsBarrier, !isAudit { batch.merge(try readOn(queries)) }
    try watchRouters(queries, anew: batch.isAfterLoss)
    guard !shared.isStopping else { return nil }
    var survey = KernelSurvey(
      tables: reader.tables, changes: batch.changes, uptime: KernelClock.uptime, isAudit: isAudit)
    if observer.needsRouteBlocks(isAfterLoss: batch.isAfterLoss || isAudit) {
      survey.changes.allBlocks = try queries.routeBlocks()
    }
    if batch.isAfterLoss || isAudit || batch.causes.contains(.ruleChanged) {
      let hasSourceRules = try queries.hasSourceRules()
      shared.hasSourceRules.store(hasSourceRules, ordering: .relaxed)
    }
    let bySource = shared.hasSourceRules.load(ordering: .relaxed)
    let answers = try queries.lookUp(observer.routeQueries(for: survey), bySource: bySource)
    let uptime = KernelClock.uptime
    shared.counters.withLock { counters in
      counters.readings += 1
      counters.barriers += batch.needsBarrier ? 1 : 0
      counters.resyncs += batch.causes.contains(.resync) ? 1 : 0
      counters.resumes += batch.causes.contains(.resume) ? 1 : 0
      counters.lastProgress = uptime
    }
    guard !shared.isStopping else { return nil }
    var reading = KernelReading(
      tables: reader.tables, answers: answers, causes: batch.causes, uptime: uptime, time: KernelClock.time,
      heard: batch.heard)
    if isAudit { try audit(&reading) }
    let deadline = observer.ingest(reading)
    if let heard = batch.heard { noteReaction(KernelClock.uptime - heard) }
    let poll = events == nil ? uptime + settings.pollInterval : nil
    // Without events every reading is of everything, and nothing is left to audit.
    return [deadline, poll, events == nil ? nil : nextAudit].compactMap(\.self).min()
  }

  /// Reads for what the writer announced until it let go of the lock: to those who are told, it is one change.
  private func readOn(_ queries: NetlinkQueries) throws(KernelError) -> EventBatch {
    var batch = EventBatch()
    try drain(into: &batch, hasError: false)
    guard !batch.isQuiet else { return batch }
    note(batch)
    // If it cannot be read now, it is not forgotten.
    pending.merge(batch)
    try reader.read(batch, queries)
    return batch
  }

  /// Hears all IPv6 neighbours while one does not answer: who answers again need not say that it is a router.
  ///
  /// - Parameters:
  ///   - queries: where the kernel is asked.
  ///   - anew: events may be missing.
  /// - Throws: a ``KernelError`` when the kernel refuses.
  private func watchRouters(_ queries: NetlinkQueries, anew: Bool) throws(KernelError) {
    guard let events else { return }
    if anew || routers.hasFailures && !hearsAllNeighbours {
      // First listen, then read: who answered again before that had no event.
      try hear(allNeighbours: true, events)
      routers = RouterWatch(failed: try queries.failedNeighbours())
    }
    try hear(allNeighbours: routers.hasFailures, events)
  }

  private func hear(allNeighbours: Bool, _ events: NetlinkSocket) throws(KernelError) {
    guard allNeighbours != hearsAllNeighbours else { return }
    try events.filterNeighbours(allNeighbours ? .all : .failed)
    hearsAllNeighbours = allNeighbours
  }

  /// Compares what the observer holds with what was just read afresh.
  ///
  /// A change that came while that was read explains a difference, and its event waits: then nothing is compared.
  private func audit(_ reading: inout KernelReading) throws(KernelError) {
    nextAudit = reading.uptime + settings.auditInterval
    var batch = EventBatch()
    try drain(into: &batch, hasError: false)
    guard batch.isEmpty else {
      note(batch)
      // They are read for at once, by the caller's caller.
      late.merge(batch)
      return
    }
    let differences = observer.differences(in: reading)
    shared.counters.withLock { counters in
      counters.audits += 1
      counters.auditDifferences += UInt64(differences)
    }
    guard differences > 0 else { return }
    // This reading mends it: everything was read and asked.
    reading.causes.insert(.resync)
    logger.error("the kernel's state differs from what its events said", metadata: ["differences": "\(differences)"])
  }

  private func drain(into batch: inout EventBatch, hasError: Bool) throws(KernelError) {
    guard let events else { return }
    if isLosing { batch.addLoss() }
    draining: for _ in 0..<Limits.datagramsPerBatch {
      let received: NetlinkSocket.Received
      do throws(KernelError) {
        received = try events.receive(waiting: false)
      } catch {
        // It is opened anew with the next try.
        self.events = nil
        throw error
      }
      switch received {
      case .datagram(let datagram): batch.add(datagram, &routers)
      case .nothing:
        isLosing = false
        break draining
      case .lost: noteLoss(in: &batch)
      }
    }
    if hasError, batch.overruns == 0, events.takeError() != 0 { noteLoss(in: &batch) }
  }

  private func noteReaction(_ duration: Duration) {
    shared.counters.withLock { counters in
      counters.reactions += 1
      counters.reactionTime += duration
    }
  }

  private func noteSleep(_ duration: Duration?) {
    guard let duration else { return }
    logger.notice("this machine slept, reading everything again", metadata: ["duration": "\(duration)"])
    pending.addSleep()
  }

  private func noteLoss(in batch: inout EventBatch) {
    isLosing = true
    batch.overruns += 1
    batch.addLoss()
  }

  private func note(_ batch: EventBatch) {
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
    logger.warning("kernel events were lost, reading everything again", metadata: ["overruns": "\(overrunsToLog)"])
    overrunsToLog = 0
  }

  /// Tells of a failed reading and sets the time of the next try.
  private func fail(_ error: KernelError) {
    queries = nil
    // Whatever was read of this burst is lost with it.
    pending.addLoss()
    shared.counters.withLock { $0.failures += 1 }
    if !hasFailed {
      hasFailed = true
      busyUntil = KernelClock.uptime + Limits.busyPatience
      logger.error("the kernel cannot be read, trying again", metadata: ["error": "\(error)"])
    }
    // A kernel that is only late, because a writer holds the RTNL lock, has not changed its mind about the verdict.
    let isLate = [ETIMEDOUT, EAGAIN].contains(error.errno) && KernelClock.uptime < busyUntil
    if !isLate, !hasTold, !shared.isStopping {
      hasTold = true
      observer.kernelFailed(error, at: KernelClock.time)
    }
    do throws(KernelError) {
      try poller.arm(KernelClock.uptime + Limits.retryDelay)
    } catch {
      // The arguments are constant and the descriptor is ours: only a mistake of this program comes here.
      preconditionFailure("\(error)")
    }
  }

  /// Opens what is not open.
  private func openSockets() throws(KernelError) {
    if events == nil, settings.listensToEvents {
      let socket = try NetlinkSocket(bufferBytes: settings.receiveBufferBytes)
      if join(socket) {
        try poller.add(socket.number)
        events = socket
        nextAudit = KernelClock.uptime + settings.auditInterval
      }
    }
    if queries == nil { queries = try NetlinkQueries() }
  }

  /// Joins the groups.
  ///
  /// - Returns: false when this system gives no events, as gVisor and some seccomp filters do.
  private func join(_ socket: NetlinkSocket) -> Bool {
    do throws(KernelError) {
      for group in [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
      ] { try socket.join(group) }
      try socket.filterNeighbours(.failed)
      hearsAllNeighbours = false
      try socket.join(RTNLGRP_NEIGH)
      return true
    } catch {
      logger.warning(
        "no kernel events here, polling instead",
        metadata: ["error": "\(error)", "interval": "\(settings.pollInterval)"])
      return false
    }
  }
}
