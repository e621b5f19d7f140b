public import ReachabilityModel

/// What the agents together say about a target.
public enum FleetVerdict: String, Hashable, Sendable, CaseIterable {
  /// No agent with a vote says `down`.
  case up
  /// As many agents as the quorum requires say `down`.
  case down
  /// Some agents say `down`, fewer than the quorum.
  case partial
  /// The agents have no path to the target; it has no part in that.
  case unreachable
  /// Too few agents have a vote.
  case unknown
  /// Checks are suspended.
  case paused
}

/// The assigned agents of a target by what they say.
public struct FleetVoteCounts: Hashable, Sendable {
  /// The agents that the target is assigned to.
  public var assigned = 0
  /// Those that say `up`.
  public var up = 0
  /// Those that say `down`.
  public var down = 0
  /// Those without a path of their own.
  public var unreachable = 0
  /// Those that are silent, or that have no result.
  public var unknown = 0
  /// Those whose checks are suspended.
  public var paused = 0

  /// No agents.
  public init() {}

  /// The agents that are not abstaining.
  public var voters: Int { up + down }
}

/// A proposed verdict on `rx2.verdict.<target>`; readers accept the first valid one in the order of the stream.
public struct VerdictMessage: Hashable, Sendable {
  /// The target's id.
  public var target: String
  /// When the stream was created that the verdict is computed from: in another one it has no meaning.
  public var stream: Int64
  /// The verdict that it replaces; nil for the first, and ``to`` in a message that only restates it.
  public var from: FleetVerdict?
  /// The new verdict.
  public var to: FleetVerdict
  /// Why it is neither `up` nor decided by votes: `unassigned`, `tooFewVotes`, `dependencyDown`.
  public var reason: Reason?
  /// The target at the root of the outage, for the reason `dependencyDown`.
  public var dependency: String?
  /// The votes at ``basis``.
  public var votes: FleetVoteCounts
  /// The agents that say `down`, sorted; at most ``FleetLimits/namedAgents``.
  public var downFrom: [String]
  /// The stream sequence that the verdict is computed at: every message up to it is counted, none after it.
  public var basis: UInt64
  /// The rank of the replica that proposes it, from 0.
  public var attempt: Int
  /// The stream sequence of the verdict accepted before this one; 0 for the first.
  public var prev: UInt64
  /// Whether only the end of the hold of `down` is its cause, not a message.
  public var held: Bool
  /// The id of the replica that proposes it.
  public var by: String
  /// When ``to`` became the verdict; nil unless this message only restates it, because the stream drops old ones.
  public var since: Timestamp?

  /// Creates a message.
  public init(
    target: String, stream: Int64, from: FleetVerdict?, to: FleetVerdict, reason: Reason? = nil, votes: FleetVoteCounts,
    downFrom: [String] = [], basis: UInt64, attempt: Int, prev: UInt64, held: Bool = false, by: String,
    since: Timestamp? = nil, dependency: String? = nil
  ) {
    self.target = target
    self.stream = stream
    self.from = from
    self.to = to
    self.reason = reason
    self.dependency = dependency
    self.votes = votes
    self.downFrom = downFrom
    self.basis = basis
    self.attempt = attempt
    self.prev = prev
    self.held = held
    self.by = by
    self.since = since
  }

  /// Whether only the cause of `unreachable` is another one: the root of an outage, or none of the targets that it depends on.
  ///
  /// A message that restates a verdict has ``since``.
  var isMove: Bool { to == .unreachable && from == to && since == nil }
}
