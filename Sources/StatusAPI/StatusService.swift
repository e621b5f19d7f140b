internal import Events
public import HTTPRouting
public import History
internal import JSONFormat
public import Logging
public import NetworkReachability
public import ReachabilityChecks
public import Webhooks

/// The HTTP interface of a monitor: a handler for an HTTP server, and the event log behind its streams.
public final class StatusService: Sendable {
  /// The bytes that end every stream when the service stops: the event `bye` and a `retry` field.
  public static let closeEvent = SSEFrame.retry + SSEFrame.event("bye", .members([:]))

  /// The registered targets.
  public let schedule: CheckSchedule
  /// The receivers of events; nil without a store.
  public let webhooks: WebhookDispatcher?

  /// Targets up to which the thread that serves requests makes their list itself: at some microseconds each.
  static let directTargets = 64

  /// The metrics of the parts, and those that other modules add.
  let metrics: MetricRegistry
  let health: Health
  let monitor: ReachabilityMonitor
  package let events: ServiceEvents
  let hostEvents: HostEventPublisher
  /// The names that clients look up and watch.
  let hostNames = HostNameQuota()
  let hostLongPolls: HostLongPolls
  /// Runs the checks that clients request.
  let checker: Checker
  /// Counts the checks that clients request.
  package let checkQuota: CheckRequestQuota
  let targets: TargetContext
  /// The documents of gates.
  let gateDocuments: GateDocuments
  /// The history; nil without a data directory.
  let history: HistoryKeeper?
  /// The settings that can change while the service runs.
  let settings: ReloadableSettings
  /// What the routes share with those of other modules.
  package let environment: RouterEnvironment
  /// The service's version, and the commit that the program was built from, for the index.
  let (version, commit): (String, String)
  let logger: Logger

  /// Attaches to `monitor`, before or after its start; the event log begins here.
  ///
  /// - Parameters:
  ///   - monitor: the source of verdicts and events.
  ///   - checker: runs the checks that clients request.
  ///   - targetChecker: runs the checks of registered targets, separately, so that clients cannot delay them.
  ///   - webhooks: what webhooks need; nil for none.
  ///   - configuration: the settings.
  ///   - history: has the store, which commits events before they are published and has those of earlier processes; it
  ///     records the results of checks and answers queries. Nil to keep events in memory. The monitor must not be started
  ///     yet if there is one.
  ///   - logger: receives internal failures.
  public init(
    monitor: ReachabilityMonitor, checker: Checker, targetChecker: Checker, webhooks: WebhookSetup? = nil,
    configuration: StatusServiceConfiguration = StatusServiceConfiguration(), history: HistoryKeeper? = nil,
    logger: Logger
  ) {
    let store = history?.store
    let events = ServiceEvents(historyBytes: configuration.historyBytes, store: store)
    if let state = store?.recovered.restoredState { monitor.restore(state) }
    self.monitor = monitor
    self.events = events
    let known = HealthCheck("kernel") {
      let snapshot = events.snapshot
      guard snapshot.status == .unknown else { return nil }
      return snapshot.machine.reason == .starting ? "not read yet" : "cannot be read"
    }
    health = Health(live: configuration.liveChecks, ready: [known] + configuration.readyChecks)
    let settings = ReloadableSettings(configuration)
    self.settings = settings
    let verdicts = VerdictMetricCounters()
    let requests = RequestCounters()
    metrics = MetricRegistry([
      .build(configuration.version, configuration.commit), .verdict(monitor, events), MetricCollector(verdicts.write),
      .kernel(monitor), .log(events.history.log), .requests(requests),
    ])
    let policy = { @Sendable in settings.current.contactPolicy.addingLocalAddresses(events.snapshot) }
    let schedule = CheckSchedule(
      monitor: monitor, checker: targetChecker,
      configuration: .init(
        limits: configuration.limits, machine: configuration.machine, policy: policy,
        moduleAccess: { settings.current.modules.access(to: $0) }, record: history?.resultHandler))
    self.schedule = schedule
    metrics.add(.targets(schedule, labels: { settings.current.metricLabels }))
    store?.restore(schedule, events, modules: settings.current.modules, logger)
    metrics.add(.checks(schedule))
    metrics.add(.gates(schedule))
    gateDocuments = GateDocuments(schedule, events)
    if let history {
      metrics.add(.store(history))
      health.add(.store(history.store))
    }
    let dispatcher = webhooks?.makeDispatcher(
      monitor, events.history, machine: configuration.machine, policy: policy, logger)
    self.webhooks = dispatcher
    if let dispatcher { metrics.add(.webhooks { dispatcher.reports }) }
    environment = RouterEnvironment(
      configuration.routerSettings, configuration.access, events.generation, requests,
      documentsAreLarge: { schedule.count > Self.directTargets })
    hostEvents = HostEventPublisher(monitor: monitor)
    hostLongPolls = HostLongPolls(monitor: monitor)
    self.checker = checker
    checkQuota = CheckRequestQuota(schedule)
    targets = TargetContext(schedule: schedule, policy: policy, configuredModules: { settings.current.modules })
    self.history = history
    (version, commit) = (configuration.version, configuration.commit)
    self.logger = logger
    metrics.add(.documents(environment.documents))
    monitor.attach(events.publisher)
    monitor.attach(verdicts)
  }

  /// Replaces the access rules; streams are closed if they would not be permitted any more.
  public func replaceAccess(_ policy: AccessPolicy) { environment.access.replace(policy) }

  /// Applies access rules, limits and all other settings that can change at run time; see ``replaceAccess(_:)``.
  public func change(to configuration: StatusServiceConfiguration) {
    replaceAccess(configuration.access)
    settings.change(to: configuration)
    environment.change(to: configuration.routerSettings)
    schedule.quota.limits = configuration.limits
    schedule.adopt(configuration.modules)
  }

  /// Applies a configuration's limits and reserves its targets' share until `schedule.configure` registers them.
  ///
  /// - Throws: the limit that the targets exceed; nothing has changed then.
  public func reserve(_ targets: [TargetDefinition], _ configuration: StatusServiceConfiguration) throws(QuotaExcess) {
    try schedule.quota.reserve(targets, configuration.limits)
  }

  /// Whether requests get a state that was read from the kernel, or the reason why it cannot be read.
  package var hasState: Bool { events.snapshot.machine.reason != .starting }

  /// Adds a check to `/readyz`.
  public func add(_ check: HealthCheck) { health.add(check) }

  /// Adds series to `/metrics`.
  public func add(_ source: MetricCollector) { metrics.add(source) }

  /// The modules that targets may name besides the built-in ones.
  public var modules: [CheckModule] { settings.current.modules }

  /// Publishes no event from now on; to be called before the monitor is stopped, which is no change of the machine's state.
  public func detach() { monitor.detach(events.publisher) }

  /// Makes `/readyz` return 503; all other routes continue to work.
  public func beginDrain() { health.beginDrain() }

  /// Whether ``beginDrain()`` was called.
  public var isDraining: Bool { health.isDraining }
}
