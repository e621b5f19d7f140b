/// The account that a registered target and an on-demand check are charged to.
public enum TargetAccount: Hashable, Sendable {
  /// The configuration file.
  case file
  /// The fleet that this machine is an agent of.
  case fleet
  /// All callers without a token.
  case anonymous
  /// The callers with the token of this id.
  case token(String)
}

/// The limits of one account; nil for a limit that only the global value sets.
public struct AccountLimits: Hashable, Sendable {
  /// Registered targets.
  public var targets: Int?
  /// The shortest interval of a target; its fast interval is not below it either.
  public var minimumInterval: Duration?
  /// Checks a second, scheduled and on demand together.
  public var checksPerSecond: Int?
  /// Changes and removals of targets a second, after ``ScheduleLimits/changeBurst`` at once.
  public var changesPerSecond: Int?

  /// The limits of one account.
  public init(
    targets: Int? = nil, minimumInterval: Duration? = nil, checksPerSecond: Int? = nil, changesPerSecond: Int? = nil
  ) {
    self.targets = targets
    self.minimumInterval = minimumInterval
    self.checksPerSecond = checksPerSecond
    self.changesPerSecond = changesPerSecond
  }
}

/// The limits of a schedule: of all targets together, and of the callers that have a token.
public struct ScheduleLimits: Hashable, Sendable {
  /// Registered targets by default.
  public static let defaultTargets = 10_000
  /// Checks a second by default: 10,000 TCP checks a second use 0.8 of a core (3 GHz x86-64).
  public static let defaultChecksPerSecond = 10_000
  /// Changes and removals of targets a second by default, for each account.
  ///
  /// Each is an event of about 500 bytes: with one removal and one registration for each, an account needs more than a
  /// minute to replace the event history of 8 MiB.
  public static let defaultChangesPerSecond = 100
  /// Changes and removals that an account may make at once after a pause.
  public static let changeBurst = 1_000

  /// Registered targets, those of the file included.
  public var targets: Int
  /// Checks a second, scheduled and on demand, those of the file included; nil for no limit.
  public var checksPerSecond: Int?
  /// The memory that targets may use; nil for no limit.
  public var memory: QuotaMemoryBudget?
  /// Changes and removals of targets a second by one account, after ``changeBurst`` at once; nil for no limit.
  ///
  /// It applies to changes that name an account. The registration of new targets is not counted: their number is limited.
  public var changesPerSecond: Int?
  /// The limits of each token, by its id.
  public var tokens: [String: AccountLimits]

  /// The limits of a schedule.
  public init(
    targets: Int = Self.defaultTargets, checksPerSecond: Int? = Self.defaultChecksPerSecond,
    memory: QuotaMemoryBudget? = nil, changesPerSecond: Int? = Self.defaultChangesPerSecond,
    tokens: [String: AccountLimits] = [:]
  ) {
    self.targets = targets
    self.checksPerSecond = checksPerSecond
    self.memory = memory
    self.changesPerSecond = changesPerSecond
    self.tokens = tokens
  }

  /// The limits of an account, without the global ones.
  public func own(_ account: TargetAccount) -> AccountLimits {
    if case .token(let id) = account { tokens[id] ?? AccountLimits() } else { AccountLimits() }
  }

  /// The limit of changes and removals of targets by an account; nil for no limit.
  func changesPerSecond(of account: TargetAccount) -> Int? { own(account).changesPerSecond ?? changesPerSecond }
}

/// A limit that a registration or an on-demand check exceeds.
public enum QuotaExcess: Error, Hashable, Sendable {
  /// Whose limit it is.
  public enum Scope: Hashable, Sendable {
    /// The limit of all accounts together.
    case all
    /// The limit of the caller's token.
    case token(String)
  }

  /// More targets than the limit.
  case targets(limit: Int, Scope)
  /// An interval below the minimum.
  case interval(minimum: Duration, Scope)
  /// More checks a second than the limit.
  case checksPerSecond(limit: Int, Scope)
  /// More changes and removals of targets a second than the limit.
  case changesPerSecond(limit: Int, Scope)
  /// More memory than the budget.
  case memory(QuotaMemoryBudget)
}

/// Whether checks on demand may begin.
public enum CheckAdmission: Hashable, Sendable {
  /// They may begin.
  case admitted
  /// They may begin after this many seconds.
  case later(seconds: Int, QuotaExcess)
  /// They never may: they are more than one second's worth of what the scheduled checks leave.
  case never(QuotaExcess)
}

/// What registered targets use of the limits.
public struct ScheduleUsage: Sendable {
  /// Registered targets.
  public var targets: Int
  /// Scheduled checks a second: the sum of 1/interval.
  public var checksPerSecond: Double
  /// Bytes of memory that they are charged with.
  public var memory: Int
  /// The limits.
  public var limits: ScheduleLimits
}
