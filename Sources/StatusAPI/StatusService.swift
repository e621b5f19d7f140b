public import Logging
public import EmbeddedHTTPServer
public import NetworkReachability
public import ReachabilityChecks

/// The HTTP face of a monitor: a handler for an HTTP server, and the event log behind its streams.
public final class StatusService: Sendable {
  /// The settings of the service.
  public struct Configuration: Sendable {
    /// Names that `Host` may carry besides literals and `localhost`.
    public var allowedHosts: [String]
    /// Origins whose web pages may ask, exactly as browsers send them: `https://dash.example`.
    public var allowedOrigins: [String]
    /// Who may ask what.
    public var access: AccessPolicy
    /// Where each answer is logged; nil for nowhere.
    public var accessLog: Logger?
    /// Modules besides the built-in ones; one of the same name takes its place.
    public var modules: [CheckModule]
    /// Whom callers may have us contact; this machine's addresses are added as they are.
    public var contactPolicy: ContactPolicy
    /// The limits of registered targets and checks; those of tokens are in `access`.
    public var limits: ScheduleLimits
    /// The deadline of a name's resolution when a request does not give one; default 5 s.
    public var resolverTimeout: Duration
    /// This machine's name, by which its registered checks are spread over their intervals.
    public var machine: String
    /// Bytes of events to resume from; of them only what was ever written takes memory.
    public var historyBytes: Int
    /// The version that the index shows.
    public var version: String
    /// What must be so for the service to be alive, besides answering.
    public var liveChecks: [HealthCheck]
    /// What must be so for the service to be ready, besides knowing the kernel's state and not draining.
    public var readyChecks: [HealthCheck]

    /// Room for an outage of all of ten thousand targets, some 500 bytes each.
    public static let defaultHistoryBytes = 8 * 1024 * 1024

    /// Settings with defaults for everything.
    public init(
      allowedHosts: [String] = [], allowedOrigins: [String] = [], access: AccessPolicy = AccessPolicy(),
      modules: [CheckModule] = [], contactPolicy: ContactPolicy = ContactPolicy(), accessLog: Logger? = nil,
      limits: ScheduleLimits = ScheduleLimits(),
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
      self.resolverTimeout = resolverTimeout
      self.machine = machine
      self.historyBytes = historyBytes
      self.version = version
      self.liveChecks = liveChecks
      self.readyChecks = readyChecks
    }
  }

  /// The bytes that end every stream when the service stops: the event `bye` and the advice to come back.
  public static let closeEvent = SSEFrame.retry + SSEFrame.event("bye", .members([:]))

  /// The registered targets.
  public let schedule: CheckSchedule

  private let router: Router
  private let health: Health
  private let metrics: MetricRegistry
  private let settings: ReloadableSettings
  private let requests = RequestCounters()

  /// Attaches to `monitor`, before or after it is started; the log begins here.
  ///
  /// - Parameters:
  ///   - monitor: knows the way.
  ///   - checker: makes the checks that callers ask for.
  ///   - targetChecker: makes those of registered targets; another than `checker`, so that no caller can keep them
  ///     waiting.
  ///   - configuration: the settings.
  ///   - logger: where our own failures go.
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

  /// Answers one request; from any thread, never blocks.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - listener: the number of the listener that it came in by, for the rules of its own that it may have.
  /// - Returns: the answer, or the promise of one.
  public func handle(_ request: HTTPRequest, listener: Int = 0) -> HTTPReply {
    router.handle(request, listener: listener)
  }

  /// Who may ask what from now on; streams that are open stay open.
  public func replaceAccess(_ policy: AccessPolicy) { router.service.access.replace(policy) }

  /// Puts into our words what the HTTP room refused by itself, with what every answer to this request carries.
  public func refusal(_ refusal: RequestRefusal, of request: HTTPRequest?) -> HTTPResponse {
    var response = Problem(refusal).response(requestID: request.map(RequestID.of) ?? RequestID.generate())
    guard let request else { return response }
    for field in settings.current.origins.headers(request) { response.headers[field.name] = field.value }
    return response
  }

  /// Counts an answer, and logs it if that is wanted; for every server to call.
  public func answered(_ answer: HTTPAccess) {
    requests.count(answer)
    if let log = settings.current.accessLog { AccessLog.write(answer, to: log) }
  }

  /// Takes over what may change while the service runs: who may ask (streams that are open stay open), allowed hosts and
  /// origins, modules and the policy, the resolver's timeout, the access log.
  public func change(to configuration: Configuration) {
    replaceAccess(configuration.access)
    settings.change(to: configuration)
    schedule.limits = configuration.allLimits
    schedule.adopt(configuration.modules)
  }

  /// Takes over the limits of a configuration and reserves what its targets need, until `schedule.configure` places them.
  ///
  /// - Throws: the limit that they exceed; nothing has changed then.
  public func reserve(_ targets: [TargetDefinition], _ configuration: Configuration) throws(QuotaExcess) {
    try schedule.reserve(targets, configuration.allLimits)
  }

  /// Adds a check to those of `/readyz`.
  public func add(_ check: HealthCheck) { health.add(check) }

  /// Adds series to `/metrics`.
  public func add(_ source: MetricCollector) { metrics.add(source) }

  /// From now on `/readyz` answers 503; everything else goes on.
  public func beginDrain() { health.beginDrain() }

  /// Whether ``beginDrain()`` was called.
  public var isDraining: Bool { health.isDraining }
}

extension StatusService.Configuration {
  /// The limits with those of the tokens.
  var allLimits: ScheduleLimits {
    var limits = limits
    limits.tokens = access.limits
    return limits
  }
}

extension ContactPolicy {
  /// The policy with this machine's addresses as they are now.
  fileprivate func addingLocalAddresses(_ snapshot: Snapshot) -> ContactPolicy {
    var policy = self
    for state in snapshot.interfaces { policy.own.formUnion(state.addresses.map(\.address)) }
    return policy
  }
}
