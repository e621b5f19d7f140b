internal import Logging
internal import HostResolver
internal import Netlink
@_exported public import ReachabilityModel

/// Monitors whether this machine and any watched hosts can be reached, from the kernel's own events.
///
/// ```swift
/// let monitor = ReachabilityMonitor()
/// try monitor.start()
/// for await update in monitor.updates() {
///   print(update.status)
/// }
/// ```
///
/// *Reachable* means that a packet can leave this machine towards the target, not that the target answers. Use it to
/// explain failures and to time retries, not to decide whether to try.
///
/// The monitor stops when its last reference is released. It watches the network namespace of the thread that calls
/// ``start()``. Monitors of one namespace share one thread and its sockets, unless they have a logger or different
/// ``Configuration/interfaceOverrides``.
public final class ReachabilityMonitor: Sendable {
  let engine: Engine
  /// Resolves names, also those of checked targets.
  package let nameResolver: WatchedNameResolver
  private let source: ActiveKernelSource
  private let makeSource: @Sendable () -> any KernelSource
  private let evaluator: OnDemandEvaluator

  /// A monitor that is not started.
  ///
  /// - Parameters:
  ///   - configuration: its settings.
  ///   - names: replaces the hosts file and the name servers; nil to use those.
  public convenience init(configuration: Configuration = Configuration(), names: (any NameSource)? = nil) {
    self.init(configuration: configuration, kernel: nil, names: names)
  }

  /// A monitor of another source of kernel state.
  ///
  /// - Parameters:
  ///   - configuration: its settings.
  ///   - kernel: makes the source, once for each start and for each ``evaluate(_:resolution:)`` without one; nil for the
  ///     real kernel.
  ///   - names: replaces the hosts file and the name servers; nil to use those.
  package init(
    configuration: Configuration = Configuration(), kernel: (@Sendable () -> any KernelSource)?,
    names: (any NameSource)? = nil
  ) {
    let logger = configuration.logger
    let makeSource = kernel ?? Self.defaultSource(configuration)
    let source = ActiveKernelSource()
    nameResolver = WatchedNameResolver(
      pool: NameResolverPool(
        ResolverConfiguration(servers: configuration.nameServers, timeout: configuration.nameTimeout)),
      source: names)
    engine = Engine(
      settle: configuration.settle, permitting: configuration.interfaceRequirement,
      names: NameWatcher(nameResolver, timeout: configuration.nameTimeout), source: source, logger: logger)
    evaluator = OnDemandEvaluator(
      engine: engine, source: source, permitting: configuration.interfaceRequirement, makeSource: makeSource)
    self.source = source
    self.makeSource = makeSource
  }

  deinit { stop() }

  /// Makes uses of the source that all monitors share; with a logger, sources of this monitor's own, which write to it.
  private static func defaultSource(_ configuration: Configuration) -> @Sendable () -> any KernelSource {
    let (overrides, logger) = (configuration.interfaceOverrides, configuration.logger)
    if logger.handler is SwiftLogNoOpLogHandler { return { SharedNetlinkSource(overrides: overrides) } }
    var settings = NetlinkSource.Settings()
    settings.interfaceOverrides = overrides
    return { [settings] in NetlinkSource(settings: settings, logger: logger) }
  }

  /// Starts monitoring; when it returns, ``snapshot`` is the present state and every subscriber has it in its mailbox.
  ///
  /// It has no effect when the monitor is started; while another thread starts it, the call waits for the same first reading.
  /// A stopped monitor may be started again.
  ///
  /// - Throws: a `KernelError` when the kernel cannot be read; ``snapshot`` is unknown then.
  public func start() throws(KernelError) {
    let (running, isNew) = source.install(makeSource, engine.beginGeneration)
    guard isNew else { return try running.latch.wait() }
    do throws(KernelError) {
      try running.source.start(running.generation)
      running.latch.open()
    } catch {
      source.remove(running.generation)
      running.generation.kernelFailed(error, at: .now)
      running.latch.open(error)
      throw error
    }
    // A concurrent stop may have come before there was anything to stop.
    if !source.isCurrent(running.generation) { running.stop() }
  }

  /// Stops monitoring and ends every subscription: after it returns, no listener is called and no update is delivered.
  ///
  /// It may be called at any time, repeatedly, and inside a listener.
  public func stop() {
    // One critical section, so that a later start on another thread is not undone.
    let (old, subscribers) = source.remove { engine.reset() }
    old?.stop()
    for subscriber in subscribers { subscriber.end() }
  }

  /// The delay before a loss is reported; a new value applies to the next loss.
  public var settle: Duration {
    get { engine.settle }
    set { engine.settle = newValue }
  }

  /// The timeout of a lookup of a watched name; a new value applies to the next lookup.
  public var nameTimeout: Duration {
    get { engine.nameTimeout }
    set { engine.nameTimeout = newValue }
  }

  // MARK: - State

  /// The state of this machine as it was last published; unknown before ``start()`` and after ``stop()``.
  public var snapshot: Snapshot { engine.snapshot }

  /// The time since the thread that reads the kernel last made progress; nil when the monitor is not started.
  ///
  /// The thread makes progress at least every ten seconds; a multiple of that means that it is blocked.
  public var timeSinceProgress: Duration? { source.current?.timeSinceProgress }

  /// Whether a source is in use or being started.
  var isStarted: Bool { source.current != nil }

  /// Counters of the source since its start, which monitors may share; nil when the monitor is not started.
  public var kernelCounters: KernelCounters? { source.current?.counters }

  /// The verdicts for watched targets, in the order of subscription.
  ///
  /// - Parameter limit: the greatest number of verdicts.
  /// - Returns: the verdicts, and the number of all watched targets.
  public func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    engine.watchedVerdicts(limit: limit)
  }

  /// The last published verdict for a watched target; nil when it is not watched or not evaluated yet.
  public func verdict(of target: ReachabilityTarget) -> HostVerdict? { engine.verdict(of: target) }

  /// The name of the interface with this name, alternative name or index in the last reading; nil when there is none.
  package func interfaceName(ofScope scope: String) -> String? { engine.tables?.interface(scope: scope)?.name }

  // MARK: - Evaluation

  /// Evaluates a target now, by a lookup in the kernel; works without ``start()``, too.
  ///
  /// Names are evaluated by the default path alone, without a query to a name server, unless `resolution` has their
  /// addresses; see ``resolve(_:timeout:)``.
  ///
  /// It waits until the kernel has carried out the changes that it has announced: usually microseconds, but seconds while
  /// thousands of interfaces are added or removed.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - resolution: the addresses of the target's name.
  /// - Returns: the present verdict, without a settle time.
  /// - Throws: a `KernelError` when the lookup fails.
  public func evaluate(
    _ target: ReachabilityTarget, resolution: NameResolution = .pending
  ) throws(KernelError) -> HostVerdict {
    try evaluator.verdict(for: OnDemandEvaluationRequest(target: target, resolution: resolution))
  }

  /// Evaluates a target without blocking the caller; after two seconds, by ``provisionalVerdict(of:resolution:)``.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - resolution: the addresses of the target's name.
  ///   - completion: receives the verdict exactly once, on another thread, or on the caller's when the source does not block;
  ///     it must not block.
  package func evaluate(
    _ target: ReachabilityTarget, resolution: NameResolution = .pending,
    completion: @escaping @Sendable (Result<HostVerdict, KernelError>) -> Void
  ) {
    evaluator.verdict(for: OnDemandEvaluationRequest(target: target, resolution: resolution)) { [self] result in
      // Retains the monitor until the evaluation has ended.
      withExtendedLifetime(self) { completion(result) }
    }
  }

  /// Evaluates a target without waiting for changes in progress; nil when the monitor is not started or the lookup fails.
  package func provisionalVerdict(
    of target: ReachabilityTarget, resolution: NameResolution = .pending
  ) -> ProvisionalVerdict? {
    evaluator.provisionalVerdict(for: OnDemandEvaluationRequest(target: target, resolution: resolution))
  }
}
