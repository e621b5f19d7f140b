public import ReachabilityModel

extension CheckSchedule {
  /// The settings of a schedule.
  public struct Configuration: Sendable {
    /// The limit of registered targets, 10,000 by default: each takes about 2 KiB.
    public var targetLimit: Int
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

    /// Settings, each with a default; without a policy every target may be contacted.
    public init(
      targetLimit: Int = 10_000, concurrency: Int = 1_024, perHost: Int = 32, machine: String = "",
      policy: @escaping @Sendable () -> ContactPolicy? = { nil }
    ) {
      self.targetLimit = targetLimit
      self.concurrency = concurrency
      self.perHost = perHost
      self.machine = machine
      self.policy = policy
    }
  }
}
