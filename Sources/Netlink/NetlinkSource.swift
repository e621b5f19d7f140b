internal import EventLoop
internal import Glibc
internal import Locks
public import Logging
public import ReachabilityModel
internal import Synchronization

/// The kernel's network state by rtnetlink(7): one thread that waits for events and reads after each burst of them.
///
/// Needs no privilege. Events only say *that* something changed: many changes (the routes of a link that goes down, of
/// an address that is deleted last) have none of their own, so everything that a burst may have touched is asked anew.
///
/// The thread keeps the observer alive until ``stop()``.
public final class NetlinkSource: KernelSource {
  /// What can be set; the defaults suit a host as well as a container.
  public struct Settings: Sendable {
    /// Bytes of receive buffer to ask for; without CAP_NET_ADMIN the kernel grants no more than net.core.rmem_max.
    public var receiveBufferBytes = Limits.eventBuffer
    /// Whether to listen to events; when not, or when the kernel refuses, everything is read every ``pollInterval``.
    public var listensToEvents = true
    /// How often to read without events.
    public var pollInterval = Duration.seconds(10)
    /// How often everything is read although nothing was announced, and compared with what is held.
    public var auditInterval = Limits.auditInterval
    /// Tells the time of this machine's life, by which a sleep is found out.
    public var clock: @Sendable () -> KernelClock.Moment = { KernelClock.now }
    /// Where sysfs describes the network devices; it may be absent.
    public var sysfsRoot = "/sys/class/net"
    /// What a person says about interfaces, against what the kernel shows.
    public var interfaceOverrides: [InterfaceOverride] = []

    /// The defaults.
    public init() {}
  }

  private let settings: Settings
  /// What progress is counted from until the first reading.
  private let created = KernelClock.uptime
  private let logger: Logger
  private let shared = NetlinkShared()

  /// A source that is not started.
  ///
  /// - Parameters:
  ///   - settings: what can be set.
  ///   - logger: told of failures, lost events and the lack of events.
  public init(settings: Settings = Settings(), logger: Logger) {
    self.settings = settings
    self.logger = logger
  }

  deinit { stop() }

  /// What the source has done so far.
  public var counters: KernelCounters { shared.counters.withLock { $0 } }

  /// How long ago the thread last turned; at rest it turns every ten seconds.
  public var timeSinceProgress: Duration { KernelClock.uptime - max(created, counters.lastProgress) }

  /// Opens the sockets on the calling thread, and so in its network namespace, and delivers the first reading.
  ///
  /// May be called once. The observer may stop the source even during the first reading.
  ///
  /// - Parameter observer: receives every reading; first on the calling thread, then on the thread `netlink`.
  /// - Throws: a ``KernelError`` when the kernel refuses; nothing is left open then.
  public func start(_ observer: any KernelObserver) throws(KernelError) {
    guard shared.begin() else {
      throw KernelError(operation: "start", errno: ECANCELED, message: "the source was stopped or started before")
    }
    do throws(KernelError) {
      let loop = try NetlinkLoop(settings: settings, logger: logger, shared: shared, observer: observer)
      try shared.lookups.withLock { (lookups) throws(KernelError) in lookups = try QuerySocket() }
      try shared.barriers.withLock { (barriers) throws(KernelError) in
        barriers = try QuerySocket(forBarriers: true)
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

  /// Asks for a new reading soon; nothing happens unless the source runs.
  public func refresh() { shared.wake() }

  /// Asks the kernel on the calling thread, after all that it has announced is done.
  ///
  /// It waits for whoever holds the kernel's RTNL lock, in any namespace: as long as thousands of interfaces come or go. Nothing
  /// ends that wait, for the kernel waits inside sendto(2).
  ///
  /// - Parameter queries: what to ask, in any number.
  /// - Returns: an answer to every question.
  /// - Throws: a ``KernelError`` when the kernel does not answer, or the source does not run.
  public func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    // A change that the kernel announced may not be done; a caller who heard of it must not be told the old state.
    try use(shared.barriers) { (queries) throws(KernelError) in try queries.barrier() }
    shared.counters.withLock { $0.barriers += 1 }
    return try nonblockingLookup(queries)
  }

  /// Asks the kernel on the calling thread what it would do with packets of this instant, and waits for nobody.
  ///
  /// - Parameter queries: what to ask, in any number.
  /// - Returns: an answer to every question.
  /// - Throws: a ``KernelError`` when the kernel does not answer, or the source does not run.
  public func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    let bySource = shared.hasSourceRules.load(ordering: .relaxed)
    return try use(shared.lookups) { (lookups) throws(KernelError) in try lookups.lookUp(queries, bySource: bySource) }
  }

  private func use<Result: Sendable>(
    _ slot: borrowing Locked<QuerySocket?>, _ body: (QuerySocket) throws(KernelError) -> Result
  ) throws(KernelError) -> Result {
    try slot.withLock { (queries) throws(KernelError) -> Result in
      guard let queries else {
        throw KernelError(operation: "lookUp", errno: ENOTCONN, message: "the source is not started")
      }
      return try body(queries)
    }
  }

  /// Ends the source and closes everything; may be called any number of times, from any thread.
  ///
  /// Waits for the call to the observer that is going on, unless that call is the caller.
  public func stop() {
    guard shared.requestStop() else { return }
    shared.latch.wait()
  }
}
