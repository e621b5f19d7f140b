internal import Logging
internal import NetworkReachability

/// What the routes work with.
struct ServiceParts: Sendable {
  var monitor: ReachabilityMonitor
  var feed: EventFeed
  var health: Health
  var nameQuota: NameQuota
  var checks: CheckDesk
  var targets: TargetDesk
  var metrics: Metrics
  /// Names that `Host` may carry besides literals and `localhost`, in lower case.
  var allowedHosts: [String]
  /// Which foreign web pages may ask.
  var origins: OriginRule
  /// Who may ask what.
  var access: AccessControl
  /// The deadline of a name's resolution when the request does not give one.
  var resolverTimeout: Duration
  /// The service's version, for the index.
  var version: String
  var logger: Logger

  /// Logs a failure of ours that a client was told about by its request's id only.
  func report(_ error: KernelError, _ requestID: String) {
    logger.error("request failed", metadata: ["request": "\(requestID)", "error": "\(error)"])
  }
}
