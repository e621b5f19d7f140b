/// A registered target: what is checked again and again, how, and how many results it takes to change its state.
///
/// ``TargetSpec/definition(modules:)`` makes valid ones.
public struct TargetDefinition: Hashable, Sendable {
  /// Its name, unique: `[a-z0-9._-]{1,63}`.
  public var id: String
  /// Who is asked.
  public var target: CheckTarget
  /// How; it fits the target's scheme.
  public var module: CheckModule
  /// What its owner knows it by: `env: prod`.
  public var labels: [String: String]
  /// The time from the start of one check to the start of the next.
  public var interval: Duration
  /// The time for one check; shorter than ``interval``.
  public var timeout: Duration
  /// The time from one check to the next while a change of state is pending; not longer than ``interval``.
  public var fastInterval: Duration
  /// How many results in a row it takes to go down.
  public var fall: Int
  /// How many results in a row it takes to come up again.
  public var rise: Int
  /// Whether it is not checked for now.
  public var isPaused: Bool

  /// A definition from its parts, which are not checked; times that are not given fit the interval.
  public init(
    id: String, target: CheckTarget, module: CheckModule? = nil, labels: [String: String] = [:],
    interval: Duration = Default.interval, timeout: Duration? = nil, fastInterval: Duration? = nil,
    fall: Int = Default.fall, rise: Int = Default.rise,
    isPaused: Bool = false
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
  }

  /// What holds when nothing is said.
  public enum Default {
    /// Seconds are for the route, which tells of itself; half a minute is often enough for the rest.
    public static let interval = Duration.seconds(30)
    /// The longest default timeout; of shorter intervals it is four fifths.
    public static let timeout = Duration.seconds(5)

    /// The timeout for an interval, which it stays below.
    static func timeout(of interval: Duration) -> Duration { timeout < interval ? timeout : interval / 5 * 4 }

    /// The longest default fast interval.
    public static let fastInterval = Duration.seconds(1)
    /// One lost packet is no outage, and neither are two.
    public static let fall = 3
    /// One answer may be luck.
    public static let rise = 2
  }

  /// The same with what a schedule can work with: times above zero and of days at the most, counts from one on.
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

  /// Whether a check of `other` asks the same question, so that what is known of one holds for the other.
  public func isSameCheck(as other: TargetDefinition) -> Bool { target == other.target && module == other.module }
}

/// Who registered a target.
public enum TargetOrigin: String, Hashable, Sendable {
  /// The configuration file: it is trusted, and changed there only.
  case configuration
  /// A caller, while the service runs; it may contact what the policy allows.
  case runtime
}

/// A registered target with its state.
public struct TargetReport: Hashable, Sendable {
  /// What is checked.
  public var definition: TargetDefinition
  /// Who registered it.
  public var origin: TargetOrigin
  /// How often its definition has changed, over all targets: never the same for two definitions.
  public var revision: UInt64
  /// How often a change of its state has been told since then.
  public var changes: UInt64
  /// What is known.
  public var status: TargetStatus

  /// A report from its parts.
  public init(
    definition: TargetDefinition, origin: TargetOrigin, revision: UInt64, changes: UInt64 = 0, status: TargetStatus
  ) {
    self.definition = definition
    self.origin = origin
    self.revision = revision
    self.changes = changes
    self.status = status
  }
}
