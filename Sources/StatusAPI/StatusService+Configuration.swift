public import HTTPRouting
public import Logging
public import NetworkReachability
public import ReachabilityChecks

extension StatusService {
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
    /// The limits of registered targets and checks, those of tokens included.
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
    /// The commit that the program was built from.
    public var commit: String
    /// Whether `GET /` returns the status page to clients that prefer HTML; default true.
    public var servesPage = true
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
      version: String = "dev", commit: String = "unknown", liveChecks: [HealthCheck] = [],
      readyChecks: [HealthCheck] = []
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
      self.commit = commit
      self.liveChecks = liveChecks
      self.readyChecks = readyChecks
    }
  }
}
