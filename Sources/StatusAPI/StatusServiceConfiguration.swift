internal import Events
public import HTTPRouting
public import Logging
public import NetworkReachability
public import ReachabilityChecks

/// The settings of a ``StatusService``.
public struct StatusServiceConfiguration: Sendable {
  /// Names that `Host` may carry besides literals and `localhost`.
  public var allowedHosts: [String] = []
  /// Origins whose web pages may send requests, exactly as browsers send them: `https://dash.example`.
  public var allowedOrigins: [String] = []
  /// Which client may use which routes.
  public var access = AccessPolicy()
  /// The log of responses; nil disables it.
  public var accessLog: Logger?
  /// Modules besides the built-in ones; a module replaces a built-in one of the same name.
  public var modules: [CheckModule] = []
  /// The addresses that clients may have the service contact; the machine's own addresses are added.
  public var contactPolicy = ContactPolicy()
  /// The limits of registered targets and checks, those of tokens included.
  public var limits = ScheduleLimits()
  /// The labels of registered targets that are labels of `reachd_target_up`.
  public var metricLabels: [MetricLabel] = []
  /// The deadline of a name's resolution when a request gives none; default 5 s.
  public var resolverTimeout = Duration.seconds(5)
  /// The name of this machine, which determines how its checks are spread over their intervals.
  public var machine = ""
  /// The size of the event history in bytes; memory is used only as events are written.
  public var historyBytes = EventHistory.defaultBytes
  /// The version that the index shows.
  public var version = "dev"
  /// The commit that the program was built from.
  public var commit = "unknown"
  /// Whether `GET /` returns the status page to clients that prefer HTML; default true.
  public var servesPage = true
  /// Conditions for liveness, in addition to a response.
  public var liveChecks: [HealthCheck] = []
  /// Conditions for readiness, in addition to a known kernel state and no drain.
  public var readyChecks: [HealthCheck] = []

  /// Creates settings, the defaults but for what a closure changes.
  public init(_ change: (inout StatusServiceConfiguration) -> Void = { _ in }) { change(&self) }

  var routerSettings: RouterSettings {
    RouterSettings(allowedHosts: allowedHosts, allowedOrigins: allowedOrigins, accessLog: accessLog)
  }
}

extension ContactPolicy {
  /// Returns the policy with the current addresses of this machine.
  func addingLocalAddresses(_ snapshot: Snapshot) -> ContactPolicy {
    var policy = self
    for state in snapshot.interfaces { policy.own.formUnion(state.addresses.map(\.address)) }
    return policy
  }
}
