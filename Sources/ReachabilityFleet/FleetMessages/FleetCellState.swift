public import ReachabilityModel

/// What one agent reports about one target.
public struct FleetCellState: Hashable, Sendable {
  /// The state at this agent; `unreachable` means that the agent itself has no path to the target.
  public var state: TargetState
  /// Why it is not `up`.
  public var reason: Reason?
  /// When the agent's target entered this state, by the agent's wall clock; for display only.
  public var since: Timestamp
  /// Whether the state changes so often that it is not meaningful.
  public var isFlapping: Bool

  /// Creates a cell.
  public init(_ state: TargetState, _ reason: Reason? = nil, since: Timestamp, isFlapping: Bool = false) {
    self.state = state
    self.reason = reason
    self.since = since
    self.isFlapping = isFlapping
  }

  /// The cell of an agent that no longer sends heartbeats; it keeps the time of its last report.
  ///
  /// `paused` follows from the definition, which does not need the agent.
  public func silenced() -> FleetCellState {
    state == .paused ? self : FleetCellState(.unknown, .agentSilent, since: since)
  }
}

/// What an agent answers about a target that it was asked to check.
public struct FleetCheckResult: Hashable, Sendable {
  /// The target.
  public var target: String
  /// Its cell after the check.
  public var cell: FleetCellState
  /// The result of the check, which may not have changed the cell yet; nil when the agent does not say it.
  public var last: TargetState?

  /// Creates an answer.
  public init(_ target: String, _ cell: FleetCellState, last: TargetState? = nil) {
    self.target = target
    self.cell = cell
    self.last = last
  }

  /// What the agent sees now.
  var seen: TargetState { cell.state == .paused ? .paused : last ?? cell.state }
}

extension Reason {
  /// The agent has been silent for some seconds; its own reports are out of date.
  public static let agentSilent = Reason(rawValue: "agentSilent")
  /// The agent does not check the target, or this replica could not ask it.
  public static let notChecked = Reason(rawValue: "notChecked")
  /// No agent is assigned to the target.
  public static let unassigned = Reason(rawValue: "unassigned")
  /// Fewer agents than required have a vote.
  public static let tooFewVotes = Reason(rawValue: "tooFewVotes")
}
