internal import Events
public import History
internal import JSONFormat
public import Logging
public import EmbeddedHTTPServer
public import History
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

  let context: ServiceContext
  private let router: Router
  private let health: Health
  private let metrics: MetricRegistry
  private let settings: ReloadableSettings
  private let requests = RequestMetricCounters()
  private let monitor: ReachabilityMonitor
  package let events: ServiceEvents

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
    let settings = ReloadableSettings(configuration, epoch: events.generation)
    self.settings = settings
    let verdicts = VerdictMetricCounters()
    metrics = MetricRegistry([
      .build(configuration.version, configuration.commit), .verdict(monitor, events), MetricCollector(verdicts.write),
      .kernel(monitor), .log(events.history.log), MetricCollector(requests.write),
    ])
    let policy = { @Sendable in settings.current.contactPolicy.addingLocalAddresses(events.snapshot) }
    let schedule = CheckSchedule(
      monitor: monitor, checker: targetChecker,
      configuration: .init(
        limits: configuration.allLimits, machine: configuration.machine, policy: policy,
        moduleAccess: { settings.current.modules.access(to: $0) },
        record: history?.resultHandler))
    self.schedule = schedule
    metrics.add(.targets(schedule, labels: { settings.current.metricLabels }))
    store?.restore(schedule, events, modules: settings.current.modules, logger)
    metrics.add(.checks(schedule))
    if let history {
      metrics.add(.store(history))
      health.add(.store(history.store))
    }
    let dispatcher = webhooks?.makeDispatcher(
      monitor, events.history, machine: configuration.machine, policy: policy, logger)
    self.webhooks = dispatcher
    if let dispatcher { metrics.add(.webhooks { dispatcher.reports }) }
    let context = ServiceContext(
      monitor: monitor, events: events, hostEvents: HostEventPublisher(monitor: monitor), health: health,
      checks: CheckContext(
        checker: checker, policy: policy, configuredModules: { settings.current.modules }),
      targets: TargetContext(schedule: schedule, policy: policy, configuredModules: { settings.current.modules }),
      history: history,
      metrics: metrics, hostLongPolls: HostLongPolls(monitor: monitor), webhooks: dispatcher, settings: settings,
      access: AccessControl(configuration.access, epoch: events.generation), requests: requests,
      epoch: events.generation,
      version: configuration.version, commit: configuration.commit, logger: logger)
    metrics.add(.documents(context.documents))
    self.context = context
    router = Router(service: context)
    monitor.attach(events.publisher)
    monitor.attach(verdicts)
  }

  /// Handles one request on any thread, without blocking.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - listener: the number of the listener that accepted the connection; it selects the access rules.
  /// - Returns: the response, or a promise of it.
  public func handle(_ request: HTTPRequest, listener: Int = 0) -> HTTPReply {
    router.handle(request, listener: listener)
  }

  /// Replaces the access rules; streams are closed if they would not be permitted any more.
  public func replaceAccess(_ policy: AccessPolicy) { context.access.replace(policy) }

  /// Converts a refusal by the HTTP server into a problem document with the headers of every response.
  public func refusal(_ refusal: RequestRefusal, of request: HTTPRequest?) -> HTTPResponse {
    var response = Problem(refusal).response(requestID: request.map(RequestID.of) ?? RequestID.generate())
    guard let request else { return response }
    for field in settings.current.origins.headers(request) { response.headers[field.name] = field.value }
    return response
  }

  /// Counts a response, and logs it if the access log is enabled; every server calls it.
  public func answered(_ answer: HTTPAccess) {
    requests.count(answer)
    if let log = settings.current.accessLog { AccessLog.write(answer, to: log) }
  }

  /// Applies access rules, limits and all other settings that can change at run time; see ``replaceAccess(_:)``.
  public func change(to configuration: StatusServiceConfiguration) {
    replaceAccess(configuration.access)
    settings.change(to: configuration)
    schedule.limits = configuration.allLimits
    schedule.adopt(configuration.modules)
  }

  /// Applies a configuration's limits and reserves its targets' share until `schedule.configure` registers them.
  ///
  /// - Throws: the limit that the targets exceed; nothing has changed then.
  public func reserve(_ targets: [TargetDefinition], _ configuration: StatusServiceConfiguration) throws(QuotaExcess) {
    try schedule.reserve(targets, configuration.allLimits)
  }

  /// Whether requests get a state that was read from the kernel, or the reason why it cannot be read.
  package var hasState: Bool { events.snapshot.machine.reason != .starting }

  /// Adds a check to `/readyz`.
  public func add(_ check: HealthCheck) { health.add(check) }

  /// Adds series to `/metrics`.
  public func add(_ source: MetricCollector) { metrics.add(source) }

  /// Adds what another module serves; once at most, before the first request.
  package func add(_ more: ServiceExtension) { context.add(more) }

  /// The modules that targets may name besides the built-in ones.
  public var modules: [CheckModule] { settings.current.modules }

  /// Publishes no event from now on; to be called before the monitor is stopped, which is no change of the machine's state.
  public func detach() { monitor.detach(events.publisher) }

  /// Makes `/readyz` return 503; all other routes continue to work.
  public func beginDrain() { health.beginDrain() }

  /// Whether ``beginDrain()`` was called.
  public var isDraining: Bool { health.isDraining }
}
