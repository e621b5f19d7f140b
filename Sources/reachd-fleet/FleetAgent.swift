internal import Dispatch
internal import Locks
internal import Logging
internal import NetworkReachability
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import Service
internal import FleetAPI
internal import StatusAPI

/// The part of the service that makes it an agent: it publishes the changes of the fleet's targets, checks those that are
/// placed here, sends heartbeats and answers requests.
///
/// Nothing of the service waits for the engine.
final class FleetAgent: ServicePart {
  /// How long a process with the same id has to answer.
  static let pingTimeout = Duration.seconds(1)
  /// The wait before a failed `hello` is tried again.
  static let helloPause = Duration.seconds(2)
  /// How often the `hello` in the stream is compared with one's own: the stream may have been created again.
  private static let helloInterval = Duration.seconds(10)
  /// How long `bye` may delay the end.
  private static let byeTimeout = Duration.seconds(1)

  enum Standing: Hashable, Sendable {
    /// Not connected, or it is not known yet whether the id is unique.
    case starting
    /// No other process answers for the id.
    case unique
    /// The stream has this agent's `hello`, with this sequence.
    case member(hello: UInt64)
  }

  struct State: Sendable {
    var standing = Standing.starting
    var isConnected = false
    var isStopped = false
    /// The last sequence at which `hello` was published, also by a connection before this one.
    var hello: UInt64 = 0
    /// When that was.
    var helloTime = ContinuousClock.now
    var subscriptions: [any FleetSubscription] = []
    var timer: FleetAgentTimer?
    var ticks = 0
    /// The nodes and definitions that are being read.
    var roster: (any FleetSubscription)?
    var suspects = FleetSuspects()
  }

  let id: String
  let instance = UInt64.random(in: 1 ... .max)
  let hello: NodeHello
  let engine: JetStreamEngine
  private let outbox: AgentOutbox
  let chain: FleetAgentChainDriver
  private let targets: FleetAgentTargets
  let requests: FleetAgentRequests
  let logger: Logger
  let state = Locked(State())
  let queue = DispatchQueue(label: "agent")
  let beginning = ContinuousClock.now

  init(_ context: ServicePartContext) {
    let fleet = context.configuration.fleet
    let logger = context.logger
    let id = fleet.id ?? ""
    self.id = id
    self.logger = logger
    hello = NodeHello(
      role: .agent, zone: fleet.zone, labels: fleet.labels, address: fleet.address, version: ServiceVersion.current)
    engine = JetStreamEngine(FleetSettings.connection(fleet, role: "agent"), .directly, logger)
    outbox = context.service.makeAgentOutbox()
    chain = FleetAgentChainDriver(agent: id, engine: engine, store: outbox, logger: logger) { Self.exitAsDuplicate(id) }
    targets = FleetAgentTargets(id, context.service, logger)
    requests = FleetAgentRequests(instance: instance, context.service.schedule)
    context.service.add(healthCheck)
    context.service.add(metrics)
    context.service.schedule.observeFirstFailures { [weak self] target in self?.suspect(target) }
  }

  func start() {
    outbox.observe { [weak self] in self?.chain.handle(.appended($0)) }
    outbox.load { [self] saved in chain.begin(saved, last: outbox.end) }
    engine.observeConnection { [weak self] isConnected in self?.connectionChanged(isConnected) }
    let timer = FleetAgentTimer(on: queue, every: FleetLimits.heartbeatInterval) { [weak self] in self?.tick() }
    state.withLock { state in
      state.timer = timer
    }
    targets.onLost { [weak self] sequence in self?.lost(hello: sequence) }
    engine.start()
  }

  func stop() {
    let isMember = state.withLock { state in
      state.isStopped = true
      state.timer = nil
      for subscription in state.subscriptions { subscription.cancel() }
      state.subscriptions = []
      state.roster?.cancel()
      state.roster = nil
      if case .member = state.standing { return state.isConnected }
      return false
    }
    if isMember {
      let hasEnded = Latch()
      publish(.bye) { _ in hasEnded.open() }
      _ = hasEnded.wait(atMost: Self.byeTimeout)
    }
    engine.stop()
  }

  // MARK: - Time

  private func tick() {
    let isDue = state.withLock { state in
      state.ticks += 1
      return state.ticks % Int(Self.helloInterval / FleetLimits.heartbeatInterval) == 0
    }
    if sendHeartbeat(), isDue {
      confirmHello()
      compareStream()
      targets.review()
    }
  }

  // MARK: - Targets

  /// Reads nodes and definitions: where it ended, or from the beginning of a stream that is another one.
  func compareStream() {
    engine.streamState { [weak self, sequence = targets.sequence] result in
      guard let self, case .success(let stream?) = result else { return }
      if targets.isOther(stream, requestedAt: sequence) { endReading() }
      restateHello(in: stream)
      guard state.withLock({ $0.roster == nil && !$0.isStopped }) else { return }
      let roster = engine.consume(FleetSubject.roster, from: targets.start) { [weak self] delivery in
        guard let self, !targets.receive(delivery) else { return }
        endReading()
        compareStream()
      }
      state.withLock { $0.roster = roster }
    }
  }

  /// Ends the reading of nodes and definitions, until the next comparison.
  func endReading() {
    let roster = state.withLock { state in
      defer { state.roster = nil }
      return state.roster
    }
    roster?.cancel()
  }

  // MARK: - Reports

  /// A warning while the engine is away; the service works without it.
  private var healthCheck: HealthCheck {
    HealthCheck("fleet", isWarning: true) { [weak self, chain] in
      guard let self else { return nil }
      let isMember = state.withLock { state in
        if case .member = state.standing { return state.isConnected }
        return false
      }
      if isMember { return nil }
      return "the engine is not connected; \(chain.backlog) events wait"
    }
  }

  private var metrics: MetricCollector {
    MetricCollector { [weak self, chain, targets, outbox] page in
      let isConnected = self?.state.withLock(\.isConnected) ?? false
      page.add("reachd_fleet_connected", .gauge, "Whether the engine is connected.", isConnected ? 1 : 0)
      page.add("reachd_fleet_outbox_events", .gauge, "Events that are not published to the fleet.", chain.backlog)
      page.add(
        "reachd_fleet_missing_events_total", .counter,
        "Events that were deleted before they were published to the fleet.", outbox.missing)
      page.add("reachd_fleet_targets", .gauge, "Targets of the fleet that are checked here.", targets.count)
    }
  }
}

/// A timer that runs a closure on a queue at an interval, until it is released.
@safe final class FleetAgentTimer: @unchecked Sendable {
  private let source: any DispatchSourceTimer

  init(on queue: DispatchQueue, every interval: Duration, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: queue)
    source.setEventHandler(handler: body)
    source.schedule(deadline: .now() + 0.1, repeating: .milliseconds(Int(interval / .milliseconds(1))))
    source.activate()
  }

  deinit { source.cancel() }
}
