internal import EventLoop
internal import Glibc
internal import Locks
package import Logging
package import ReachabilityModel
internal import Synchronization

/// The kernel's network state by rtnetlink(7): one thread that waits for events and reads after each burst of them.
///
/// It needs no privilege. Events only show *that* something changed: many changes (the routes of a link that goes down,
/// or of an address that is deleted last) have no event of their own, so everything that a burst may have affected is
/// read again.
///
/// The thread keeps a reference to the observer until ``stop()``.
package final class NetlinkSource: KernelSource {
  /// The settings; the defaults suit a host as well as a container.
  package struct Settings: Sendable {
    /// Bytes requested for the receive buffer; without CAP_NET_ADMIN the kernel grants at most net.core.rmem_max.
    package var receiveBufferBytes = Limits.eventBuffer
    /// Whether to receive events; if not, or if the kernel refuses, everything is read every ``pollInterval``.
    package var listensToEvents = true
    /// How often to read without events.
    package var pollInterval = Duration.seconds(10)
    /// How often everything is read although no change was announced, and compared with the current state.
    package var auditInterval = Limits.auditInterval
    /// The clock from which a suspend is detected.
    package var clock: @Sendable () -> KernelClock.Moment = { KernelClock.now }
    /// The directory where sysfs describes the network devices; it may be absent.
    package var sysfsRoot = "/sys/class/net"
    /// The configured properties of interfaces, which take precedence over those that the kernel reports.
    package var interfaceOverrides: [InterfaceOverride] = []

    package init() {}
  }

  private let settings: Settings
  /// The reference for progress until the first reading.
  private let created = KernelClock.uptime
  private let logger: Logger
  private let shared = NetlinkShared()

  /// Makes a source that is not started.
  ///
  /// - Parameters:
  ///   - settings: the settings.
  ///   - logger: receives failures, lost events and the lack of events.
  package init(settings: Settings = Settings(), logger: Logger) {
    self.settings = settings
    self.logger = logger
  }

  deinit { stop() }

  package var counters: KernelCounters { shared.counters.withLock { $0 } }

  /// The time since the thread last completed an iteration; an idle thread completes one every ten seconds.
  package var timeSinceProgress: Duration { KernelClock.uptime - max(created, counters.lastProgress) }

  /// Opens the sockets in the network namespace of the calling thread and delivers the first reading.
  ///
  /// May be called once. The observer may stop the source even during the first reading.
  ///
  /// - Parameter observer: receives every reading; first on the calling thread, then on the thread `netlink`.
  /// - Throws: a ``KernelError`` when the kernel refuses; everything is closed then.
  package func start(_ observer: any KernelObserver) throws(KernelError) {
    guard shared.begin() else {
      throw KernelError(operation: "start", errno: ECANCELED, message: "the source was stopped or started before")
    }
    do throws(KernelError) {
      let loop = try NetlinkLoop(settings: settings, logger: logger, shared: shared, observer: observer)
      try shared.lookups.withLock { (lookups) throws(KernelError) in lookups = try NetlinkQuerySocket() }
      try shared.barriers.withLock { (barriers) throws(KernelError) in
        barriers = try NetlinkQuerySocket(forBarriers: true)
      }
      try loop.readFirst()
      guard shared.handOver() else {
        // The observer, or another thread, stopped the source during the first reading.
        shared.end()
        return
      }
      try spawn(loop)
    } catch {
      shared.end()
      throw error
    }
  }

  private func spawn(_ loop: sending NetlinkLoop) throws(KernelError) {
    let shared = shared
    do throws(EventLoopError) {
      // `stop` waits for the latch instead of the thread, because any number of threads may call it.
      try LoopThread("netlink") {
        shared.adoptThread()
        loop.run()
      } completion: {
        shared.end()
      }.detach()
    } catch {
      throw KernelError(error)
    }
  }

  /// Requests a new reading; no effect unless the source runs.
  package func refresh() { shared.wake() }

  /// Looks up routes on the calling thread, after the kernel has completed all changes that it has announced.
  ///
  /// The call waits for the holder of the kernel's RTNL lock, in any namespace: as long as thousands of interfaces are
  /// added or removed. No timeout ends that wait, because the kernel waits inside sendto(2).
  ///
  /// - Parameter queries: any number of queries.
  /// - Returns: an answer for every query.
  /// - Throws: a ``KernelError`` when the kernel does not respond, or the source does not run.
  package func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    // An announced change may be incomplete; a caller that was notified of it must not receive the old state.
    try use(shared.barriers) { (queries) throws(KernelError) in try queries.barrier() }
    shared.counters.withLock { $0.barriers += 1 }
    return try nonblockingLookup(queries)
  }

  /// Looks up routes on the calling thread in the kernel's current state, without waiting for the RTNL lock.
  ///
  /// - Parameter queries: any number of queries.
  /// - Returns: an answer for every query.
  /// - Throws: a ``KernelError`` when the kernel does not respond, or the source does not run.
  package func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    let rules = NetlinkRuleSelectors(rawValue: shared.rules.load(ordering: .relaxed))
    return try use(shared.lookups) { (lookups) throws(KernelError) in try lookups.lookUp(queries, rules: rules) }
  }

  private func use<Result: Sendable>(
    _ slot: borrowing Locked<NetlinkQuerySocket?>, _ body: (NetlinkQuerySocket) throws(KernelError) -> Result
  ) throws(KernelError) -> Result {
    try slot.withLock { (queries) throws(KernelError) -> Result in
      guard let queries else {
        throw KernelError(operation: "lookUp", errno: ENOTCONN, message: "the source is not started")
      }
      return try body(queries)
    }
  }

  /// Stops the source and closes everything; may be called any number of times, from any thread.
  ///
  /// Waits for a running call to the observer, unless the caller is inside that call.
  package func stop() {
    guard shared.requestStop() else { return }
    shared.latch.wait()
  }
}
