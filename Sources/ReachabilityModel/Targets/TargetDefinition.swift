/// A registered target: what is checked periodically, how, and how many results change its state.
///
/// ``TargetSpec/definition(modules:)`` creates valid ones.
public struct TargetDefinition: Hashable, Sendable {
  /// The name, which is unique: `[a-z0-9._-]{1,68}`.
  public var id: String
  /// The target of the checks.
  public var target: CheckTarget
  /// The module; it fits the target's scheme.
  public var module: CheckModule
  /// Labels of the user: `env: prod`.
  public var labels: [String: String]
  /// The time from the start of one check to the start of the next.
  public var interval: Duration
  /// The time limit of one check; shorter than ``interval``.
  public var timeout: Duration
  /// The time from one check to the next while a change of state is pending; not longer than ``interval``.
  public var fastInterval: Duration
  /// How many consecutive results change the state to down.
  public var fall: Int
  /// How many consecutive results change the state to up.
  public var rise: Int
  /// Whether checks are suspended.
  public var isPaused: Bool
  /// The targets without which it cannot be reached: while an entry is broken, its failures are not its own.
  public var dependsOn: [TargetDependency]

  /// Creates a definition from its parts, which are not validated; omitted times are derived from the interval.
  public init(
    id: String, target: CheckTarget, module: CheckModule? = nil, labels: [String: String] = [:],
    interval: Duration = Default.interval, timeout: Duration? = nil, fastInterval: Duration? = nil,
    fall: Int = Default.fall, rise: Int = Default.rise,
    isPaused: Bool = false, dependsOn: [TargetDependency] = []
  ) {
    self.id = id
    self.target = target
    self.module = module ?? .standard(for: target.scheme)
    self.labels = labels
    self.interval = interval
    self.timeout = timeout ?? Default.timeout(of: interval)
    self.fastInterval = fastInterval ?? min(Default.fastInterval, interval)
    self.fall = fall
    self.rise = rise
    self.isPaused = isPaused
    self.dependsOn = dependsOn
  }

  /// The default values.
  public enum Default {
    /// Changes of routes are reported without checks, so 30 seconds are enough for the rest.
    public static let interval = Duration.seconds(30)
    /// The longest default timeout; for shorter intervals it is four fifths of the interval.
    public static let timeout = Duration.seconds(5)

    /// The default timeout for an interval, always shorter than it.
    static func timeout(of interval: Duration) -> Duration { timeout < interval ? timeout : interval / 5 * 4 }

    /// The longest default fast interval.
    public static let fastInterval = Duration.seconds(1)
    /// One or two lost packets are not an outage.
    public static let fall = 3
    /// One answer may be a coincidence.
    public static let rise = 2
  }

  /// The definition limited to values that a schedule can use: times above zero and at most a day, counts of at least
  /// one.
  package var bounded: TargetDefinition {
    var bounded = self
    let longest = TargetSpec.Bounds.interval.upperBound
    bounded.interval = min(max(interval, .milliseconds(1)), longest)
    bounded.timeout = min(max(timeout, .milliseconds(1)), longest)
    bounded.fastInterval = min(max(fastInterval, .milliseconds(1)), bounded.interval)
    bounded.fall = max(fall, 1)
    bounded.rise = max(rise, 1)
    return bounded
  }

  /// Whether a check of `other` is the same, so that results for one are valid for the other.
  public func isSameCheck(as other: TargetDefinition) -> Bool { target == other.target && module == other.module }
}

/// The origin of a registered target.
public enum TargetOrigin: String, Hashable, Sendable {
  /// The configuration file: it is trusted, and can be changed there only.
  case configuration
  /// An API caller, at run time; it may contact what the policy permits.
  case runtime
  /// The fleet that this machine is an agent of; it may contact what this machine's policy permits.
  case fleet
}

/// A registered target with its state.
public struct TargetReport: Hashable, Sendable {
  /// What is checked.
  public var definition: TargetDefinition {
    get { sharedDefinition.value }
    set { sharedDefinition = SharedValue(newValue) }
  }
  /// The definition by reference, because it has 257 bytes, and every check and every change needs it.
  package private(set) var sharedDefinition: SharedValue<TargetDefinition>
  /// The origin of its registration.
  public var origin: TargetOrigin
  /// The revision of its definition, from a counter over all targets: never the same for two definitions.
  public var revision: UInt64
  /// The number of state changes that were published since then.
  public var changes: UInt64
  /// The current status.
  public var status: TargetStatus
  /// Whether the configuration pauses the target, which a client may have changed; nil for targets of clients.
  package var isPausedByConfiguration: Bool?
  /// The id of the token whose quota has it; nil for targets of the configuration and of clients without a token.
  package var token: String?

  /// Creates a report from its parts.
  public init(
    definition: TargetDefinition, origin: TargetOrigin, revision: UInt64, changes: UInt64 = 0, status: TargetStatus
  ) {
    sharedDefinition = SharedValue(definition)
    self.origin = origin
    self.revision = revision
    self.changes = changes
    self.status = status
  }
}
