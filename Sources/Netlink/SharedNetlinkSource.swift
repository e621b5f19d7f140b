internal import Glibc
internal import Locks
package import ReachabilityModel

/// A use of the ``NetlinkSource`` that all monitors of this process share (ADR 30).
///
/// There is one source for each network namespace and list of interface overrides: one thread, one set of sockets. It starts
/// with the first use and ends with the last. Without `/proc`, which identifies the namespace, every use has its own source.
///
/// The observer's calls may come from the thread of the shared source, whose other observers they delay. ``stop()`` does not
/// wait for a call in progress on another thread, unless this is the last use.
package final class SharedNetlinkSource: KernelSource {
  private enum Phase: Sendable {
    case idle
    /// The first reading is not complete; lookups are possible while it is being delivered.
    case starting((CountedNetlinkSource, NetlinkObserverMultiplexer.Member)?)
    case started(CountedNetlinkSource, NetlinkObserverMultiplexer.Member)
    case stopped
  }

  private let overrides: [InterfaceOverride]
  private let phase = Locked(Phase.idle)

  /// Makes a use that is not started.
  ///
  /// - Parameter overrides: the configured properties of interfaces; only uses with equal lists share a source.
  package init(overrides: [InterfaceOverride] = []) { self.overrides = overrides }

  deinit { stop() }

  /// Starts the source of the calling thread's namespace, or joins it, and delivers the first reading.
  ///
  /// May be called once.
  ///
  /// - Parameter observer: receives every reading; first on the calling thread or on the thread `netlink`.
  /// - Throws: a ``KernelError`` when the kernel refuses.
  package func start(_ observer: any KernelObserver) throws(KernelError) {
    let isIdle = phase.withLock { phase in
      guard case .idle = phase else { return false }
      phase = .starting(nil)
      return true
    }
    guard isIdle else {
      throw KernelError(operation: "start", errno: ECANCELED, message: "the source was stopped or started before")
    }
    let (source, isNew) = CountedNetlinkSource.acquire(overrides)
    let member = NetlinkObserverMultiplexer.Member(observer)
    phase.withLock { if case .starting = $0 { $0 = .starting((source, member)) } }
    do throws(KernelError) {
      try source.add(member, isNew: isNew)
    } catch {
      phase.withLock { $0 = .stopped }
      source.release()
      throw error
    }
    // A stop during the start found nothing to stop.
    let isStopped = phase.withLock { phase in
      guard case .starting = phase else { return true }
      phase = .started(source, member)
      return false
    }
    if isStopped { source.remove(member) }
  }

  /// Requests a new reading for this use alone; no effect unless the source runs.
  package func refresh() {
    if let (source, member) = use { source.refresh(for: member) }
  }

  /// See ``NetlinkSource/lookUp(_:)``.
  package func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    try requireRunning().lookUp(queries)
  }

  /// See ``NetlinkSource/nonblockingLookup(_:)``.
  package func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    try requireRunning().nonblockingLookup(queries)
  }

  /// The time since the thread of the shared source completed an iteration; zero unless the source runs.
  package var timeSinceProgress: Duration { running?.timeSinceProgress ?? .zero }

  /// The counters of the shared source since its start; zeros unless the source runs.
  package var counters: KernelCounters { running?.counters ?? KernelCounters() }

  /// Ends this use, and the source with its last use; may be called any number of times, from any thread.
  package func stop() {
    let used = phase.withLock { phase -> (CountedNetlinkSource, NetlinkObserverMultiplexer.Member)? in
      defer { phase = .stopped }
      if case .started(let source, let member) = phase { return (source, member) }
      return nil
    }
    if let (source, member) = used { source.remove(member) }
  }

  private var use: (CountedNetlinkSource, NetlinkObserverMultiplexer.Member)? {
    phase.withLock { phase in
      switch phase {
      case .starting(let use): use
      case .started(let source, let member): (source, member)
      case .idle, .stopped: nil
      }
    }
  }

  private var running: NetlinkSource? { use?.0.source }

  private func requireRunning() throws(KernelError) -> NetlinkSource {
    guard let running else {
      throw KernelError(operation: "lookUp", errno: ENOTCONN, message: "the source is not started")
    }
    return running
  }
}
