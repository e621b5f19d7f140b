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
  /// The time without an answer of a replica from which readiness warns: three comparisons.
  private static let longestSilence = GatewayLimits.confirmation * 3
  /// The age of an event that is not published from which the log says so.
  private static let latePublication = Duration.seconds(10)

  private struct State: Sendable {
    var timer: FleetAgentTimer?
    var suspects = FleetSuspects()
    /// Whether the log says that events are not published.
    var isLate = false
  }

  /// It adds no routes.
  var router: Router? { nil }
  private let id: String
  private let instance = UInt64.random(in: 1 ... .max)
  private let messenger: NATSMessenger
  private let gateway: FleetGatewayClient
  private let outbox: AgentOutbox
  private let chain: FleetAgentChainDriver
  private let targets: FleetAgentTargets
  private let membership: FleetAgentMembership
  private let logger: Logger
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "agent")
  private let beginning = ContinuousClock.now

  init(_ context: ServicePartContext) {
    let fleet = context.configuration.fleet
    let logger = context.logger
    let id = fleet.id ?? ""
    self.id = id
    self.logger = logger
    messenger = NATSMessenger(FleetSettings.connection(fleet, role: "agent"), logger)
    gateway = FleetGatewayClient(agent: id, messenger)
    outbox = context.service.makeAgentOutbox()
    chain = FleetAgentChainDriver(agent: id, gateway: gateway, store: outbox, logger: logger) {
      FleetTerminal.exitAsDuplicate(id)
    }
    targets = FleetAgentTargets(gateway, context.service, logger)
    let hello = NodeHello(
      role: .agent, zone: fleet.zone, labels: fleet.labels, address: fleet.address, version: ServiceVersion.current)
    let requests = FleetAgentRequests(agent: id, instance: instance, messenger, context.service.schedule)
    membership = FleetAgentMembership(
      agent: id, instance: instance, hello, messenger, gateway, chain, targets, requests, queue, logger)
    context.service.add(healthCheck)
    context.service.add(metrics)
    context.service.schedule.observeFirstFailures { [weak self] target in self?.suspect(target) }
  }

  func start() {
    outbox.observe { [weak self] in self?.chain.handle(.appended($0)) }
    outbox.load { [self] saved in chain.begin(saved, last: outbox.end) }
    membership.begin { [weak self] in self?.sendHeartbeat() }
    let timer = FleetAgentTimer(on: queue, every: FleetLimits.heartbeatInterval) { [weak self] in self?.tick() }
    state.withLock { $0.timer = timer }
    messenger.start()
  }

  func stop() {
    state.withLock { $0.timer = nil }
    membership.end()
    messenger.stop()
  }

  // MARK: - Time

  private func tick() {
    sendHeartbeat()
    membership.confirmRegularly()
    reportDelay()
  }

  /// Sends a heartbeat, if this process is the agent.
  private func sendHeartbeat(suspects: [String] = []) {
    guard let hello = membership.connectedHello else { return }
    let heartbeat = HeartbeatMessage(
      agent: id, instance: instance, outbox: Int(clamping: chain.backlog), hello: hello, suspects: suspects)
    messenger.send(FleetWire.encode(heartbeat), on: .heartbeat(id))
  }

  /// The check of a target that was up has failed: a heartbeat names it, and a replica asks the other agents to check it.
  ///
  /// A target without a path does not get here: the kernel reports that, or the check has the result `unreachable`.
  private func suspect(_ target: String) {
    let now = ContinuousClock.now - beginning
    guard membership.isConnected, let time = state.withLock({ $0.suspects.add(target, at: now) }) else { return }
    queue.asyncAfter(deadline: .now() + (time - now) / .seconds(1)) { [weak self] in
      guard let self else { return }
      sendHeartbeat(suspects: state.withLock { [beginning] in $0.suspects.take(at: .now - beginning) })
    }
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
      let silence = gateway.silence
      if membership.connectedHello != nil, silence < Self.longestSilence, chain.age < Self.latePublication {
        return nil
      }
      let age = Int(chain.age / .seconds(1))
      return
        "no replica has answered for \(Int(silence / .seconds(1))) s; \(chain.backlog) events wait, the oldest for \(age) s"
    }
  }

  private var metrics: MetricCollector {
    MetricCollector { [weak self, chain, targets, outbox] page in
      let isConnected = self?.membership.isConnected ?? false
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
