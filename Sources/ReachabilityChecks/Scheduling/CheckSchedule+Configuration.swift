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
    /// For which targets callers may use a module that such a target was added with; asked at each check, because a reload
    /// may have changed or removed it.
    public var moduleAccess: @Sendable (ProbeModule) -> ModuleAccess

    /// Settings with defaults for everything; without a policy everybody may be contacted.
    public init(
      limits: ScheduleLimits = ScheduleLimits(), concurrency: Int = 1_024, perHost: Int = 32, machine: String = "",
      policy: @escaping @Sendable () -> ContactPolicy? = { nil },
      moduleAccess: @escaping @Sendable (ProbeModule) -> ModuleAccess = { $0.access }
    ) {
      self.limits = limits
      self.concurrency = concurrency
      self.perHost = perHost
      self.machine = machine
      self.policy = policy
      self.moduleAccess = moduleAccess
    }
  }
}
