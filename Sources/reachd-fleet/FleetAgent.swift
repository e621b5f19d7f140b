internal import Dispatch
internal import HTTPRouting
internal import Locks
internal import Logging
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
  /// The wait before a failed `hello` is tried again, while no replica takes part, and after a rejection.
  static let helloPause = Duration.seconds(2)
  static let absencePause = Duration.milliseconds(500)
  static let rejectionPause = Duration.seconds(10)
  /// How long `bye` may delay the end.
  static let byeTimeout = Duration.seconds(1)
  /// The time without an answer of a replica from which readiness warns: three comparisons.
  private static let longestSilence = GatewayLimits.confirmation * 3
  /// The age of an event that is not published from which the log says so.
  private static let latePublication = Duration.seconds(10)

  enum Standing: Hashable, Sendable {
    /// Not connected, or it is not known yet whether the id is unique.
    case starting
    /// The stream has this agent's `hello`, with this sequence.
    case member(hello: UInt64)
  }

  struct State: Sendable {
    var standing = Standing.starting
    var isConnected = false
    var isStopped = false
    /// Whether a `hello` is under way.
    var isGreeting = false
    /// The last sequence at which `hello` was published, also by a connection before this one.
    var hello: UInt64 = 0
    /// When that was.
    var helloTime = ContinuousClock.now
    /// When the last comparison began, and whether the next one waits for a hint's pause.
    var confirmation = ContinuousClock.now - GatewayLimits.confirmation
    var willConfirm = false
    var subscriptions: [any FleetSubscription] = []
    var timer: FleetAgentTimer?
    var suspects = FleetSuspects()
    var isLate = false
  }

  /// It adds no routes.
  let router: Router? = nil
  let id: String
  let instance = UInt64.random(in: 1 ... .max)
  let hello: NodeHello
  let messenger: NATSMessenger
  let gateway: FleetGatewayClient
  private let outbox: AgentOutbox
  let chain: FleetAgentChainDriver
  let targets: FleetAgentTargets
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
    messenger = NATSMessenger(FleetSettings.connection(fleet, role: "agent"), logger)
    gateway = FleetGatewayClient(agent: id, messenger)
    outbox = context.service.makeAgentOutbox()
    chain = FleetAgentChainDriver(agent: id, gateway: gateway, store: outbox, logger: logger) {
      Self.exitAsDuplicate(id)
    }
    targets = FleetAgentTargets(gateway, context.service, logger)
    requests = FleetAgentRequests(instance: instance, context.service.schedule)
    context.service.add(healthCheck)
    context.service.add(metrics)
    context.service.schedule.observeFirstFailures { [weak self] target in self?.suspect(target) }
  }

  func start() {
    outbox.observe { [weak self] in self?.chain.handle(.appended($0)) }
    outbox.load { [self] saved in chain.begin(saved, last: outbox.end) }
    messenger.observeConnection { [weak self] isConnected in self?.connectionChanged(isConnected) }
    let timer = FleetAgentTimer(on: queue, every: FleetLimits.heartbeatInterval) { [weak self] in self?.tick() }
    state.withLock { state in
      state.timer = timer
    }
    messenger.start()
  }

  func stop() {
    let isMember = state.withLock { state in
      state.isStopped = true
      state.timer = nil
      for subscription in state.subscriptions { subscription.cancel() }
      state.subscriptions = []
      if case .member = state.standing { return state.isConnected }
      return false
    }
    if isMember { sayBye() }
    messenger.stop()
  }

  // MARK: - Time

  private func tick() {
    sendHeartbeat()
    let isDue = state.withLock { .now - $0.confirmation >= GatewayLimits.confirmation }
    if isDue { confirm() }
    reportDelay()
  }

  /// Logs that events are not published, and that they are again.
  private func reportDelay() {
    let age = chain.age
    let isLate = age > Self.latePublication
    let isNew = state.withLock { state in
      defer { state.isLate = isLate }
      return state.isLate != isLate
    }
    guard isNew else { return }
    guard isLate else { return logger.notice("events are published again") }
    logger.warning(
      "events are not published", metadata: ["events": "\(chain.backlog)", "seconds": "\(Int(age / .seconds(1)))"])
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
      let silence = gateway.silence
      if isMember, silence < Self.longestSilence, chain.age < Self.latePublication { return nil }
      let age = Int(chain.age / .seconds(1))
      return
        "no replica has answered for \(Int(silence / .seconds(1))) s; \(chain.backlog) events wait, the oldest for \(age) s"
    }
  }

  private var metrics: MetricCollector {
    MetricCollector { [weak self, chain, targets, outbox] page in
      let isConnected = self?.state.withLock(\.isConnected) ?? false
      page.add("reachd_fleet_connected", .gauge, "Whether the engine is connected.", isConnected ? 1 : 0)
      page.add(
        "reachd_fleet_oldest_unpublished_seconds", .gauge,
        "Age of the oldest event that is not published to the fleet.",
        [.init(chain.age / .seconds(1))])
      page.add(
        "reachd_fleet_rejected_events_total", .counter,
        "Messages that replicas rejected, and whose events were left out.", chain.leftOut)
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
