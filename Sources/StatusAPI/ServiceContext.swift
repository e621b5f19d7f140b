internal import Logging
internal import EmbeddedHTTPServer
internal import NetworkReachability

/// What the routes work with.
final class ServiceContext: Sendable {
  let monitor: ReachabilityMonitor
  let events: EventPublisher
  let hostEvents: HostEventPublisher
  let health: Health
  let resolutionRateLimiter: ResolutionRateLimiter
  let checks: CheckContext
  let targets: TargetContext
  let metrics: MetricRegistry
  let hostLongPolls: HostLongPolls
  /// What may change while the service runs.
  let settings: ReloadableSettings
  /// Who may ask what.
  let access: AccessControl
  /// Counts the answers.
  let requests: RequestCounters
  /// Moves on with everything that the answer to a read may depend on: the documents, the settings, who may ask.
  let epoch: CacheGeneration
  /// The service's version, for the index.
  let version: String
  let logger: Logger

  init(
    monitor: ReachabilityMonitor, events: EventPublisher, hostEvents: HostEventPublisher, health: Health,
    resolutionRateLimiter: ResolutionRateLimiter,
    checks: CheckContext, targets: TargetContext, metrics: MetricRegistry, hostLongPolls: HostLongPolls,
    settings: ReloadableSettings,
    access: AccessControl, requests: RequestCounters, epoch: CacheGeneration, version: String, logger: Logger
  ) {
    self.monitor = monitor
    self.events = events
    self.hostEvents = hostEvents
    self.health = health
    self.resolutionRateLimiter = resolutionRateLimiter
    self.checks = checks
    self.targets = targets
    self.metrics = metrics
    self.hostLongPolls = hostLongPolls
    self.settings = settings
    self.access = access
    self.requests = requests
    self.epoch = epoch
    self.version = version
    self.logger = logger
  }

  /// Which foreign web pages may ask.
  var origins: OriginPolicy { settings.current.origins }

  /// Logs a failure of ours that a client was told about by its request's id only.
  func report(_ error: KernelError, _ requestID: String) {
    logger.error("request failed", metadata: ["request": "\(requestID)", "error": "\(error)"])
  }
}
