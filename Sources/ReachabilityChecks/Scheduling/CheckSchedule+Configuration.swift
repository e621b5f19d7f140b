public import ReachabilityModel

extension CheckSchedule {
  /// The settings of a schedule.
  public struct Configuration: Sendable {
    /// The limits of registered targets and of the rate of checks at the start.
    public var limits: ScheduleLimits
    /// Checks at once, by default 1,024: each may hold a descriptor and some kilobytes, and 10,000 targets of 20 ms need 20.
    public var concurrency: Int
    /// Checks at once to one host, by default 32.
    ///
    /// A host with a hundred services is not flooded, and one that answers none holds up its own checks only.
    public var perHost: Int
    /// This machine's name: it shifts the places of all targets in their intervals, so that machines with the same
    /// targets do not check in step, and each keeps its moments over a restart.
    public var machine: String
    /// Whom targets that were added at run time may contact; asked at each check.
    public var policy: @Sendable () -> ContactPolicy?

    /// Settings with defaults for everything; without a policy everybody may be contacted.
    public init(
      limits: ScheduleLimits = ScheduleLimits(), concurrency: Int = 1_024, perHost: Int = 32, machine: String = "",
      policy: @escaping @Sendable () -> ContactPolicy? = { nil }
    ) {
      self.limits = limits
      self.concurrency = concurrency
      self.perHost = perHost
      self.machine = machine
      self.policy = policy
    }
  }
}
