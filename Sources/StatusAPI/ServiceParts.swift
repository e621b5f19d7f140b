internal import Logging
internal import MicroHTTP
internal import NetworkReachability

/// What the routes work with.
final class ServiceParts: Sendable {
  let monitor: ReachabilityMonitor
  let feed: EventFeed
  let hosts: HostFeed
  let health: Health
  let nameQuota: NameQuota
  let checks: CheckDesk
  let targets: TargetDesk
  let metrics: Metrics
  let hostWaits: HostWaits
  /// What may change while the service runs.
  let settings: LiveSettings
  /// Who may ask what.
  let access: AccessControl
  /// Counts the answers.
  let requests: RequestTally
  /// Moves on with everything that the answer to a read may depend on: the documents, the settings, who may ask.
  let epoch: AnswerEpoch
  /// The service's version, for the index.
  let version: String
  let logger: Logger

  init(
    monitor: ReachabilityMonitor, feed: EventFeed, hosts: HostFeed, health: Health, nameQuota: NameQuota,
    checks: CheckDesk, targets: TargetDesk, metrics: Metrics, hostWaits: HostWaits, settings: LiveSettings,
    access: AccessControl, requests: RequestTally, epoch: AnswerEpoch, version: String, logger: Logger
  ) {
    self.monitor = monitor
    self.feed = feed
    self.hosts = hosts
    self.health = health
    self.nameQuota = nameQuota
    self.checks = checks
    self.targets = targets
    self.metrics = metrics
    self.hostWaits = hostWaits
    self.settings = settings
    self.access = access
    self.requests = requests
    self.epoch = epoch
    self.version = version
    self.logger = logger
  }

  /// Which foreign web pages may ask.
  var origins: OriginRule { settings.current.origins }

  /// Logs a failure of ours that a client was told about by its request's id only.
  func report(_ error: KernelError, _ requestID: String) {
    logger.error("request failed", metadata: ["request": "\(requestID)", "error": "\(error)"])
  }
}
