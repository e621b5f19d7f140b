internal import Logging
internal import NetworkReachability

/// What the routes work with.
struct ServiceParts: Sendable {
  var monitor: ReachabilityMonitor
  var feed: EventFeed
  var hosts: HostFeed
  var health: Health
  var nameQuota: NameQuota
  var checks: CheckDesk
  var targets: TargetDesk
  var metrics: Metrics
  var hostWaits: HostWaits
  /// What may change while the service runs.
  var settings: LiveSettings
  /// Who may ask what.
  var access: AccessControl
  /// The service's version, for the index.
  var version: String
  var logger: Logger

  /// Which foreign web pages may ask.
  var origins: OriginRule { settings.current.origins }

  /// Logs a failure of ours that a client was told about by its request's id only.
  func report(_ error: KernelError, _ requestID: String) {
    logger.error("request failed", metadata: ["request": "\(requestID)", "error": "\(error)"])
  }
}
