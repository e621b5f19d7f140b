internal import EventLoop
internal import Glibc
internal import Locks
internal import Logging
internal import ReachabilityModel
internal import Synchronization

/// The loop of the netlink thread: it waits for events and deadlines, reads, and reports to the observer.
///
/// Confined to one thread at a time.
final class NetlinkLoop {
  private enum Token {
    static let waker: UInt64 = 0
    static let clock: UInt64 = 1
    static let events: UInt64 = 2
  }

  private let shared: NetlinkShared
  private let settings: NetlinkSource.Settings
  private let logger: Logger
  private let observer: any KernelObserver
  private let poller: Poller
  private let waker: Waker
  /// Nil where the kernel has no such timer (gVisor): a suspend is then detected after the next ``Limits/heartbeat``.
  private let clockChanges: KernelClockChangeTimer?
  private var receiver: NetlinkEventReceiver
  private var policy: NetlinkResyncPolicy
  private var reader: NetlinkTableReader
  /// Nil after a failure, until it is opened again.
  private var queries: NetlinkQuerySocket?
  private var sleep: SleepDetector
  /// The time of the next reading or attempt if no event arrives, on CLOCK_MONOTONIC; nil for never.
  private var deadline: Duration?

  /// Opens everything, and receives events before the first reading, so that no change is missed.
  init(
    settings: NetlinkSource.Settings, logger: Logger, shared: NetlinkShared, observer: any KernelObserver
  ) throws(KernelError) {
    self.settings = settings
    self.logger = logger
    self.shared = shared
    self.observer = observer
    receiver = NetlinkEventReceiver(settings: settings, logger: logger, shared: shared)
    policy = NetlinkResyncPolicy(auditInterval: settings.auditInterval)
    reader = NetlinkTableReader(
      InterfaceClassifier(sysfsRoot: settings.sysfsRoot, overrides: settings.interfaceOverrides))
    sleep = SleepDetector(at: settings.clock())
    clockChanges = try? KernelClockChangeTimer()
    do throws(EventLoopError) {
      poller = try Poller(capacity: Limits.polledEvents)
      waker = try Waker()
      try waker.attach(to: poller, token: Token.waker)
      if let clockChanges { try poller.add(clockChanges.number, .readable, token: Token.clock) }
    } catch {
      throw KernelError(error)
    }
    try openSockets()
    shared.setWaker(waker)
  }

  /// Makes the first reading.
  func readFirst() throws(KernelError) { try readPending(isAudit: false) }

  /// Waits and reads until the source is stopped.
  func run() {
    while !shared.isStopping {
      do throws(KernelError) {
        try turn()
      } catch {
        handleFailure(error)
      }
    }
  }

  private func turn() throws(KernelError) {
    let socket = wait()
    if let socket { policy.received(try receiver.receive(hasError: socket.contains(.error))) }
    let isCalled = waker.clear()
    guard !shared.isStopping else { return }
    let uptime = KernelClock.uptime
    let isDue = deadline.map { $0 <= uptime } ?? false
    let decision = policy.decide(isCalled: isCalled, isDue: isDue, hasEvents: receiver.isOpen, uptime: uptime)
    guard case .read(let isAudit) = decision else { return }
    if policy.isFailing { try openSockets() }
    try readPending(isAudit: isAudit)
  }

  /// Waits for an event, at most ``Limits/heartbeat``.
  ///
  /// - Returns: what epoll reports for the event socket; nil for nothing.
  private func wait() -> Poller.Events? {
    sleep.waitBegins(at: settings.clock())
    let timeout = deadline.map { min($0 - KernelClock.uptime, Limits.heartbeat) } ?? Limits.heartbeat
    var socket: Poller.Events?
    for index in 0..<poller.wait(atMost: timeout) {
      switch poller[index].token {
      case Token.waker: break
      case Token.clock: clockChanges?.clear()
      default: socket = poller[index].events
      }
    }
    if let duration = sleep.waitEnds(at: settings.clock()) {
      logger.notice(
        "the machine or this process was suspended, reading everything again",
        metadata: ["duration": "\(duration)"])
      policy.slept()
    }
    shared.counters.withLock { $0.lastProgress = KernelClock.uptime }
    return socket
  }

  /// Reads until nothing is pending.
  ///
  /// All readings are made here.
  private func readPending(isAudit: Bool) throws(KernelError) {
    var isAudit = isAudit
    repeat {
      deadline = try read(policy.pending, isAudit: isAudit)
      policy.readingSucceeded()
      isAudit = false
    } while !policy.pending.isEmpty
  }

  /// Reads what a batch may have changed and reports it to the observer.
  ///
  /// - Returns: when to read again if no event arrives.
  private func read(_ pending: NetlinkEventBatch, isAudit: Bool) throws(KernelError) -> Duration? {
    guard let queries else { throw KernelError("read", errno: ENOTCONN) }
    var batch = pending
    try reader.read(batch, isAudit: isAudit, queries)
    // An audit compares the tables with the events so far.
    if batch.needsBarrier, !isAudit { batch.merge(try readWhatFollowed(queries)) }
    let hasNewRouters = try receiver.followRouters(queries, afterLoss: batch.isAfterLoss, at: KernelClock.uptime)
    // After a loss every route is looked up.
    if hasNewRouters, !batch.isAfterLoss { batch.addNeighbourChange() }
    guard !shared.isStopping else { return nil }
    let answers = try lookUpRoutes(batch, isAudit: isAudit, queries)
    let uptime = KernelClock.uptime
    count(batch, uptime)
    guard !shared.isStopping else { return nil }
    var reading = KernelReading(
      tables: reader.tables, answers: answers, causes: batch.causes, minorCauses: batch.minorCauses, uptime: uptime,
      time: KernelClock.time, receivedAt: batch.receivedAt)
    // The reading of an audit corrects the differences, because everything was read.
    if isAudit, try hasDifferences(reading) { reading.causes.insert(.resync) }
    let next = observer.ingest(reading)
    if let receivedAt = batch.receivedAt { countReaction(KernelClock.uptime - receivedAt) }
    // Without events every reading is complete, and an audit is not needed.
    let periodic = receiver.isOpen ? policy.nextAudit : uptime + settings.pollInterval
    return [next, periodic, receiver.nextNeighbourCheck].compactMap(\.self).min()
  }

  /// Reads again for the events that the holder of the RTNL lock sent before it released the lock.
  ///
  /// They are part of the same change.
  private func readWhatFollowed(_ queries: NetlinkQuerySocket) throws(KernelError) -> NetlinkEventBatch {
    let batch = try receiver.receive()
    guard !batch.isIdle else { return batch }
    // If the reading fails, the next one includes them.
    policy.received(batch)
    try reader.read(batch, queries)
    return batch
  }

  /// Makes the lookups that the observer requires after a change.
  private func lookUpRoutes(
    _ batch: NetlinkEventBatch, isAudit: Bool, _ queries: NetlinkQuerySocket
  ) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    var survey = KernelSurvey(
      tables: reader.tables, changes: batch.changes, uptime: KernelClock.uptime, isAudit: isAudit,
      isAfterLoss: batch.isAfterLoss || isAudit)
    if observer.needsRouteBlocks(for: survey) {
      survey.changes.allBlocks = try queries.routeBlocks()
    }
    shared.rules.store(reader.rules.rawValue, ordering: .relaxed)
    return try queries.lookUp(observer.routeQueries(for: survey), rules: reader.rules)
  }

  /// Compares the observer's state with the reading.
  ///
  /// If events are queued, they may explain a difference: then nothing is compared, and the next reading handles them.
  private func hasDifferences(_ reading: KernelReading) throws(KernelError) -> Bool {
    policy.scheduleAudit(after: reading.uptime)
    let batch = try receiver.receive()
    guard batch.isEmpty else {
      policy.receivedDuringAudit(batch)
      return false
    }
    let differences = observer.differences(in: reading)
    shared.counters.withLock { counters in
      counters.audits += 1
      counters.auditDifferences += UInt64(differences)
    }
    guard differences > 0 else { return false }
    logger.error(
      "the kernel's state differs from its events", metadata: ["differences": .stringConvertible(differences)])
    return true
  }

  private func count(_ batch: NetlinkEventBatch, _ uptime: Duration) {
    shared.counters.withLock { counters in
      counters.readings += 1
      counters.barriers += batch.needsBarrier ? 1 : 0
      counters.resyncs += batch.causes.contains(.resync) ? 1 : 0
      counters.resumes += batch.causes.contains(.resume) ? 1 : 0
      counters.lastProgress = uptime
    }
  }

  private func countReaction(_ duration: Duration) {
    shared.counters.withLock { counters in
      counters.reactions += 1
      counters.reactionTime += duration
    }
  }

  /// Logs and reports a failed reading, and sets the time of the next attempt.
  private func handleFailure(_ error: KernelError) {
    queries = nil
    shared.counters.withLock { $0.failures += 1 }
    let uptime = KernelClock.uptime
    deadline = uptime + Limits.retryDelay
    let report = policy.readingFailed(error, uptime: uptime, isStopping: shared.isStopping)
    if report.isFirst {
      logger.error("cannot read the kernel's state, trying again", metadata: ["error": "\(error)"])
    }
    if report.isForObserver { observer.kernelFailed(error, at: KernelClock.time) }
  }

  /// Opens the sockets that are not open.
  private func openSockets() throws(KernelError) {
    if try receiver.open(in: poller, token: Token.events) { policy.scheduleAudit(after: KernelClock.uptime) }
    if queries == nil { queries = try NetlinkQuerySocket() }
  }
}
