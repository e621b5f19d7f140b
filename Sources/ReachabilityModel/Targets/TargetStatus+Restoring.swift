extension TargetStatus {
  /// What of a status outlives the process: everything but the last result and contrary results.
  public struct Restorable: Hashable, Sendable {
    /// The state.
    public var state: TargetState
    /// Why it is not `up`.
    public var reason: Reason?
    /// When it entered this state.
    public var since: Timestamp
    /// The number of consecutive results that were not `up`.
    public var consecutiveFailures: Int
    /// The changes among the last results, one bit each.
    public var flapBits: UInt32
    /// Whether the last result was `up`; nil before the first.
    public var wasUp: Bool?
    /// Whether the state is flapping.
    public var isFlapping: Bool
    /// The target at the root of an outage that it depends on.
    public var dependency: String?

    /// Creates a status from its parts.
    public init(
      state: TargetState, reason: Reason?, since: Timestamp, consecutiveFailures: Int, flapBits: UInt32, wasUp: Bool?,
      isFlapping: Bool, dependency: String? = nil
    ) {
      self.state = state
      self.reason = reason
      self.since = since
      self.consecutiveFailures = consecutiveFailures
      self.flapBits = flapBits
      self.wasUp = wasUp
      self.isFlapping = isFlapping
      self.dependency = dependency
    }
  }
}
