internal import Locks
internal import Logging
internal import EmbeddedHTTPServer
internal import History
internal import NetworkReachability
internal import Webhooks

/// The objects that the routes use.
final class ServiceContext: Sendable {
  let monitor: ReachabilityMonitor
  let events: ServiceEvents
  let hostEvents: HostEventPublisher
  let health: Health
  /// The names that clients look up and watch.
  let hostNames = HostNameQuota()
  let checks: CheckContext
  let targets: TargetContext
  /// The history; nil without a data directory.
  let history: HistoryKeeper?
  let metrics: MetricRegistry
  /// Makes the responses whose cost grows with the number of targets.
  let documents = DocumentQueue()
  let hostLongPolls: HostLongPolls
  /// The webhooks; nil without a store.
  let webhooks: WebhookDispatcher?
  /// What another module has added; nil in a process of its own.
  var extensions: ServiceExtension? { added.withLock(\.self) }
  private let added = Locked<ServiceExtension?>(nil)
  /// The settings that can change while the service runs.
  let settings: ReloadableSettings
  /// Which client may use which routes.
  let access: AccessControl
  /// Counts the responses.
  let requests: RequestMetricCounters
  /// Advances with every change of what a cached response depends on: the documents, the settings, the access rules.
  let epoch: ResponseCacheGeneration
  /// The service's version, for the index.
  let version: String
  /// The commit that the program was built from, for the index.
  let commit: String
  let logger: Logger

  init(
    monitor: ReachabilityMonitor, events: ServiceEvents, hostEvents: HostEventPublisher, health: Health,
    checks: CheckContext, targets: TargetContext, history: HistoryKeeper?, metrics: MetricRegistry,
    hostLongPolls: HostLongPolls,
    webhooks: WebhookDispatcher? = nil, settings: ReloadableSettings,
    access: AccessControl, requests: RequestMetricCounters, epoch: ResponseCacheGeneration, version: String,
    commit: String,
    logger: Logger
  ) {
    self.monitor = monitor
    self.events = events
    self.hostEvents = hostEvents
    self.health = health
    self.checks = checks
    self.targets = targets
    self.history = history
    self.metrics = metrics
    self.hostLongPolls = hostLongPolls
    self.webhooks = webhooks
    self.settings = settings
    self.access = access
    self.requests = requests
    self.epoch = epoch
    self.version = version
    self.commit = commit
    self.logger = logger
  }

  /// Adds what another module serves.
  func add(_ more: ServiceExtension) { added.withLock { $0 = more } }

  /// Which foreign web pages may send requests.
  var origins: OriginPolicy { settings.current.origins }

  /// Logs an internal failure; the client receives only the request id.
  func report(_ error: KernelError, _ requestID: String) {
    logger.error("request failed", metadata: ["request": "\(requestID)", "error": "\(error)"])
  }
}
