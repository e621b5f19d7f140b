public import ReachabilityModel

/// The settings of a ``CheckSchedule``.
public struct ScheduleConfiguration: Sendable {
  /// The limits of registered targets and of the rate of checks at the start.
  public var limits: ScheduleLimits
  /// The limit of concurrent checks, 1,024 by default: each may take a descriptor and some kilobytes, and 10,000 targets that
  /// answer within 20 ms need 20.
  public var concurrency: Int
  /// The limit of concurrent checks of one host, 32 by default.
  ///
  /// It protects hosts with many services, and a host that does not answer delays its own checks only.
  public var perHost: Int
  /// This machine's name: it shifts the phase of all targets within their intervals, so that machines with the same targets
  /// do not check them at the same time, and each machine keeps its phases over a restart.
  public var machine: String
  /// The policy for targets that were added at run time; called for each check.
  public var policy: @Sendable () -> ContactPolicy?
  /// The targets for which clients may use a module; called for each check of a target that was added at run time, because a
  /// reload may have changed or removed its module.
  public var moduleAccess: @Sendable (CheckModule) -> ModuleAccess
  /// Receives each result that counts, with the target's id, in any order and on any thread; nil when nothing keeps them.
  public var record: (@Sendable (_ id: String, _ result: CheckResult) -> Void)?

  /// Settings, each with a default; without a policy every target may be contacted.
  public init(
    limits: ScheduleLimits = ScheduleLimits(), concurrency: Int = 1_024, perHost: Int = 32, machine: String = "",
    policy: @escaping @Sendable () -> ContactPolicy? = { nil },
    moduleAccess: @escaping @Sendable (CheckModule) -> ModuleAccess = { $0.access },
    record: (@Sendable (_ id: String, _ result: CheckResult) -> Void)? = nil
  ) {
    self.limits = limits
    self.concurrency = concurrency
    self.perHost = perHost
    self.machine = machine
    self.policy = policy
    self.moduleAccess = moduleAccess
    self.record = record
  }
}
