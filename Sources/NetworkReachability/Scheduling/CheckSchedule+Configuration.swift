public import ReachabilityModel

extension CheckSchedule {
  /// The settings of a schedule.
  public struct Configuration: Sendable {
    /// Registered targets at the most.
    public var targetLimit: Int
    /// Checks at once.
    public var concurrency: Int
    /// Checks at once to one host.
    public var perHost: Int
    /// Shifts the places of all targets in their intervals, so that several machines do not check in step.
    public var seed: UInt64
    /// Whom targets of the origin ``TargetOrigin/runtime`` may contact; asked at each check.
    public var policy: @Sendable () -> ContactPolicy?

    /// Settings with defaults for everything; without a policy everybody may be contacted.
    public init(
      targetLimit: Int = 10_000, concurrency: Int = 1_024, perHost: Int = 32, seed: UInt64 = 0,
      policy: @escaping @Sendable () -> ContactPolicy? = { nil }
    ) {
      self.targetLimit = targetLimit
      self.concurrency = concurrency
      self.perHost = perHost
      self.seed = seed
      self.policy = policy
    }
  }
}
