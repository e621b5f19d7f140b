internal import Logging
internal import Names
internal import Netlink
@_exported public import ReachabilityModel

/// Watches whether this machine, and any hosts it is asked about, can be reached, from the kernel's own events.
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
/// The monitor stops when the last reference to it goes. It watches the network namespace of the thread that calls
/// ``start()``.
public final class ReachabilityMonitor: Sendable {
  let engine: Engine
  /// Who asks for names, one who checks them included.
  package let lines: NameLines
  let names: (any NameSource)?
  let makeSource: @Sendable () -> any KernelSource
  let source = SourceSlot()
  let requirement: InterfaceRequirement
  let questions = QuestionLine()

  /// A monitor that is not started yet.
  ///
  /// - Parameters:
  ///   - configuration: its settings.
  ///   - kernel: makes the source of kernel state, once a start and once an ``evaluate(_:resolution:)`` without one; nil
  ///     for the real kernel.
  ///   - names: what names resolve to; nil for the hosts file and the name servers.
  public init(
    configuration: Configuration = Configuration(), kernel: (@Sendable () -> any KernelSource)? = nil,
    names: (any NameSource)? = nil
  ) {
    self.names = names
    lines = NameLines(
      Resolver.Configuration(servers: configuration.nameServers, timeout: configuration.nameTimeout))
    requirement = configuration.interfaceRequirement
    engine = Engine(
      settle: configuration.settle, permitting: requirement,
      names: NameWatcher(lines, source: names, timeout: configuration.nameTimeout), source: source,
      logger: configuration.logger)
    let logger = configuration.logger
    var settings = NetlinkSource.Settings()
    settings.interfaceOverrides = configuration.interfaceOverrides
    makeSource = kernel ?? { [settings] in NetlinkSource(settings: settings, logger: logger) }
  }

  deinit { stop() }

  /// Starts to watch; ``snapshot`` is the state as it is when this returns, and every subscriber has it waiting.
  ///
  /// Does nothing when already started; while another thread starts, it waits for the same first reading. After ``stop()`` it
  /// may be started again.
  ///
  /// - Throws: a `KernelError` when the kernel refuses; its ``snapshot`` is unknown then.
  public func start() throws(KernelError) {
    let (fresh, isNew) = source.fill(makeSource, engine.beginRun)
    guard isNew else { return try fresh.opening.wait() }
    do throws(KernelError) {
      try fresh.source.start(fresh.run)
      fresh.opening.end()
    } catch {
      source.empty(of: fresh.run)
      fresh.run.kernelFailed(error, at: .now)
      fresh.opening.end(error)
      throw error
    }
    // A stop that came meanwhile may have found nothing to stop yet.
    if !source.holds(fresh.run) { fresh.stop() }
  }

  /// Stops watching and ends every subscription: no listener is called and no update delivered after this returns.
  ///
  /// Harmless when not started, when called again, and inside a listener.
  public func stop() {
    // In one step, so that a start that comes after it on another thread is not undone.
    let (old, subscribers) = source.empty { engine.reset() }
    old?.stop()
    for subscriber in subscribers { subscriber.end() }
  }

  /// How long a loss waits before it is told; it may be changed at any time, and holds for the next loss.
  public var settle: Duration {
    get { engine.settle }
    set { engine.settle = newValue }
  }

  /// How long the name servers have for a watched name; it may be changed at any time, and holds for the next question.
  public var nameTimeout: Duration {
    get { engine.nameTimeout }
    set { engine.nameTimeout = newValue }
  }

  // MARK: - Now

  /// The state of this machine as subscribers have been told it; unknown before ``start()`` and after ``stop()``.
  public var snapshot: Snapshot { engine.snapshot }

  /// How long ago the thread that reads the kernel last showed that it lives; nil when the monitor is not started.
  ///
  /// At rest it does so every ten seconds; several times that is a thread that is stuck.
  public var sinceProgress: Duration? { source.current?.sinceProgress }

  /// Whether the first reading is there or about to be.
  var isStarted: Bool { source.current != nil }

  /// What the source of kernel state has done since ``start()``; nil when the monitor is not started.
  public var kernelCounters: KernelCounters? { source.current?.counters }

  /// The verdicts over watched targets, those that were asked for first.
  ///
  /// - Parameter limit: the most verdicts to give.
  /// - Returns: the verdicts, and how many targets are watched in all.
  public func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    engine.watchedVerdicts(limit: limit)
  }

  /// The verdict over a target that somebody subscribed to, as told; nil when nobody did or it was not judged yet.
  public func verdict(of target: ReachabilityTarget) -> HostVerdict? { engine.verdict(of: target) }
}
