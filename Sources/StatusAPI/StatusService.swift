internal import JSONFormat
public import Logging
public import EmbeddedHTTPServer
public import NetworkReachability
public import ReachabilityChecks

/// The HTTP interface of a monitor: a handler for an HTTP server, and the event log behind its streams.
public final class StatusService: Sendable {
  /// The settings of the service.
  public struct Configuration: Sendable {
    /// Names that `Host` may carry besides literals and `localhost`.
    public var allowedHosts: [String]
    /// Origins whose web pages may send requests, exactly as browsers send them: `https://dash.example`.
    public var allowedOrigins: [String]
    /// Which client may use which routes.
    public var access: AccessPolicy
    /// The log of responses; nil disables it.
    public var accessLog: Logger?
    /// Modules besides the built-in ones; a module replaces a built-in one of the same name.
    public var modules: [CheckModule]
    /// The addresses that clients may have the service contact; the machine's own addresses are added.
    public var contactPolicy: ContactPolicy
    /// The limits of registered targets and checks; the limits of tokens are in `access`.
    public var limits: ScheduleLimits
    /// The labels of registered targets that are labels of `reachd_target_up`.
    public var metricLabels: [MetricLabel]
    /// The deadline of a name's resolution when a request gives none; default 5 s.
    public var resolverTimeout: Duration
    /// The name of this machine, which determines how its checks are spread over their intervals.
    public var machine: String
    /// The size of the event history in bytes; memory is used only as events are written.
    public var historyBytes: Int
    /// The version that the index shows.
    public var version: String
    /// Conditions for liveness, in addition to a response.
    public var liveChecks: [HealthCheck]
    /// Conditions for readiness, in addition to a known kernel state and no drain.
    public var readyChecks: [HealthCheck]
    /// Enough for an outage of ten thousand targets, at about 500 bytes each.
    public static let defaultHistoryBytes = 8 * 1024 * 1024

    /// Creates settings.
    public init(
      allowedHosts: [String] = [], allowedOrigins: [String] = [], access: AccessPolicy = AccessPolicy(),
      modules: [CheckModule] = [], contactPolicy: ContactPolicy = ContactPolicy(), accessLog: Logger? = nil,
      limits: ScheduleLimits = ScheduleLimits(), metricLabels: [MetricLabel] = [],
      resolverTimeout: Duration = .seconds(5), machine: String = "", historyBytes: Int = defaultHistoryBytes,
      version: String = "dev", liveChecks: [HealthCheck] = [], readyChecks: [HealthCheck] = []
    ) {
      self.allowedHosts = allowedHosts
      self.accessLog = accessLog
      self.allowedOrigins = allowedOrigins
      self.access = access
      self.modules = modules
      self.contactPolicy = contactPolicy
      self.limits = limits
      self.metricLabels = metricLabels
      self.resolverTimeout = resolverTimeout
      self.machine = machine
      self.historyBytes = historyBytes
      self.version = version
      self.liveChecks = liveChecks
      self.readyChecks = readyChecks
    }
  }

  /// The bytes that end every stream when the service stops: the event `bye` and a `retry` field.
  public static let closeEvent = SSEFrame.retry + SSEFrame.event("bye", .members([:]))

  /// The registered targets.
  public let schedule: CheckSchedule

  private let router: Router
  private let health: Health
  private let metrics: MetricRegistry
  private let settings: ReloadableSettings
  private let requests = RequestCounters()

  /// Attaches to `monitor`, before or after its start; the event log begins here.
  ///
  /// - Parameters:
  ///   - monitor: the source of verdicts and events.
  ///   - checker: runs the checks that clients request.
  ///   - targetChecker: runs the checks of registered targets, separately, so that clients cannot delay them.
  ///   - configuration: the settings.
  ///   - logger: receives internal failures.
  public init(
    monitor: ReachabilityMonitor, checker: Checker, targetChecker: Checker,
    configuration: Configuration = Configuration(),
    logger: Logger
  ) {
    let events = EventPublisher(historyBytes: configuration.historyBytes)
    let known = HealthCheck("kernel") {
      let snapshot = events.documents.snapshot
      guard snapshot.status == .unknown else { return nil }
      return snapshot.machine.reason == .starting ? "not read yet" : "cannot be read"
    }
    health = Health(live: configuration.liveChecks, ready: [known] + configuration.readyChecks)
    let settings = ReloadableSettings(configuration, epoch: events.generation)
    self.settings = settings
    let verdicts = VerdictCounters()
    metrics = MetricRegistry([
      .build(configuration.version), .verdict(monitor, events), MetricCollector(verdicts.write), .kernel(monitor),
      .log(events.log), MetricCollector(requests.write),
    ])
    let policy: @Sendable () -> ContactPolicy = {
      settings.current.contactPolicy.addingLocalAddresses(events.documents.snapshot)
    }
    let schedule = CheckSchedule(
      monitor: monitor, checker: targetChecker,
      configuration: .init(
        limits: configuration.allLimits, machine: configuration.machine, policy: policy,
        moduleAccess: { settings.current.modules.access(to: $0) }))
    self.schedule = schedule
    metrics.add(.targets(schedule, labels: { settings.current.metricLabels }))
    metrics.add(.checks(schedule))
    router = Router(
      routes: RouteTable.all,
      service: ServiceContext(
        monitor: monitor, events: events, hostEvents: HostEventPublisher(monitor: monitor), health: health,
        resolutionRateLimiter: ResolutionRateLimiter(),
        checks: CheckContext(
          checker: checker, policy: policy, configuredModules: { settings.current.modules }),
        targets: TargetContext(schedule: schedule, policy: policy, configuredModules: { settings.current.modules }),
        metrics: metrics, hostLongPolls: HostLongPolls(monitor: monitor), settings: settings,
        access: AccessControl(configuration.access, epoch: events.generation), requests: requests,
        epoch: events.generation,
        version: configuration.version, logger: logger))
    monitor.attach(events)
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

  /// Replaces the access rules; open streams stay open.
  public func replaceAccess(_ policy: AccessPolicy) { router.service.access.replace(policy) }

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

  /// Applies access rules, limits and all other settings that can change at run time; open streams stay open.
  public func change(to configuration: Configuration) {
    replaceAccess(configuration.access)
    settings.change(to: configuration)
    schedule.limits = configuration.allLimits
    schedule.adopt(configuration.modules)
  }

  /// Applies a configuration's limits and reserves its targets' share until `schedule.configure` registers them.
  ///
  /// - Throws: the limit that the targets exceed; nothing has changed then.
  public func reserve(_ targets: [TargetDefinition], _ configuration: Configuration) throws(QuotaExcess) {
    try schedule.reserve(targets, configuration.allLimits)
  }

  /// Adds a check to `/readyz`.
  public func add(_ check: HealthCheck) { health.add(check) }

  /// Adds series to `/metrics`.
  public func add(_ source: MetricCollector) { metrics.add(source) }

  /// Makes `/readyz` return 503; all other routes continue to work.
  public func beginDrain() { health.beginDrain() }

  /// Whether ``beginDrain()`` was called.
  public var isDraining: Bool { health.isDraining }
}
