/// Whether everything that a gate requires is reachable.
public enum GateState: String, Hashable, Sendable, CaseIterable {
  /// It is.
  case open
  /// It is not, or it is not known.
  case closed
}

/// The state of a gate's member, from the best to the worst.
public enum GateMemberState: String, Hashable, Sendable, CaseIterable {
  /// As the state of a target.
  case up, paused
  /// It has no result yet, or only one of an earlier process that is too old.
  case starting
  /// As the state of a target.
  case unknown, unreachable, down
  /// The gate names a target that does not exist.
  case notRegistered
}

/// The numbers of a gate's members by their states.
public struct GateCounts: Hashable, Sendable {
  private var counts = [Int](repeating: 0, count: GateMemberState.allCases.count)

  /// Creates counts of no members.
  public init() {}

  /// The number of members in a state.
  public subscript(_ state: GateMemberState) -> Int {
    get { counts[state.rank] }
    set { counts[state.rank] = newValue }
  }

  /// The number of all members.
  public var total: Int { counts.reduce(0, +) }
}

extension GateMemberState {
  private static let ranks = Dictionary(uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) })

  /// The position in the order from the best to the worst.
  package var rank: Int { Self.ranks[self] ?? 0 }
}

/// The state of a gate and its cause.
public struct GateStatus: Hashable, Sendable {
  /// The state.
  public var state: GateState
  /// Why the gate is closed; nil when it is open.
  public var reason: Reason?
  /// When it entered this state.
  public var since: Timestamp
  /// When it opens unless a condition fails before; nil unless the reason is ``Reason/settling``.
  public var opensAt: Timestamp?
  /// The members by their states.
  public var counts: GateCounts
  /// The members that are not up, the worst first, at most ``missingLimit``.
  public var missing: [String]

  /// The names in ``missing``: enough for a log line; `GET /gates/{id}/members` has all.
  public static let missingLimit = 32

  /// Creates a status from its parts.
  public init(
    state: GateState, reason: Reason?, since: Timestamp, opensAt: Timestamp? = nil, counts: GateCounts = GateCounts(),
    missing: [String] = []
  ) {
    self.state = state
    self.reason = reason
    self.since = since
    self.opensAt = opensAt
    self.counts = counts
    self.missing = missing
  }
}

/// A gate with its state.
public struct GateReport: Hashable, Sendable {
  /// What it requires.
  public var definition: GateDefinition
  /// The configuration, or a client.
  public var origin: TargetOrigin
  /// The revision of its definition, from a counter over all gates.
  public var revision: UInt64
  /// The number of changes of its state and its members in this process.
  public var changes: UInt64
  /// The current status.
  public var status: GateStatus

  /// Creates a report from its parts.
  public init(
    definition: GateDefinition, origin: TargetOrigin, revision: UInt64, changes: UInt64, status: GateStatus
  ) {
    self.definition = definition
    self.origin = origin
    self.revision = revision
    self.changes = changes
    self.status = status
  }
}

// Why a gate is closed; also `starting`, when a member has no result yet.
extension Reason {
  /// A gate names a target that does not exist.
  public static let notRegistered = Reason(rawValue: "notRegistered")
  /// A gate selects no target.
  public static let noMembers = Reason(rawValue: "noMembers")
  /// A gate selects more targets than the limit.
  public static let tooManyMembers = Reason(rawValue: "tooManyMembers")
  /// This machine does not fulfil the gate's condition.
  public static let machine = Reason(rawValue: "machine")
  /// Required members of a gate are not up.
  public static let missing = Reason(rawValue: "missing")
  /// All conditions of a gate hold, but not for long enough yet.
  public static let settling = Reason(rawValue: "settling")
}
