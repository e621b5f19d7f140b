public import ReachabilityModel

/// A message on an agent's own subject, `rx2.ev.<agent>`: transitions, or a part of a base.
///
/// The messages of an agent form a chain: each contains the stream sequence of the previous one.
public struct AgentMessage: Hashable, Sendable {
  /// The agent's id.
  public var agent: String
  /// The identity of the agent's store; numbers are comparable within one epoch only.
  public var epoch: String
  /// The stream sequence of this agent's previous message; 0 for the first message in a stream.
  public var after: UInt64
  /// What it reports.
  public var content: Content

  /// The two kinds of content.
  public enum Content: Hashable, Sendable {
    /// Transitions in the order of their numbers.
    case changes(AgentChangeBatch)
    /// A part of all cells of the agent.
    case base(FleetBasePart)
  }

  /// Creates a message.
  public init(agent: String, epoch: String, after: UInt64, _ content: Content) {
    self.agent = agent
    self.epoch = epoch
    self.after = after
    self.content = content
  }

  /// The agent's number up to which its history is known when this message is applied.
  public var to: UInt64 {
    switch content {
    case .changes(let batch): batch.to
    case .base(let part): part.number
    }
  }
}

/// Consecutive transitions of one agent.
public struct AgentChangeBatch: Hashable, Sendable {
  /// The agent's number before the first of these changes: ``AgentMessage/to`` of the previous message of the epoch, 0
  /// at its start; higher when the store does not have the events between.
  public var prev: UInt64
  /// The number of the first change.
  public var from: UInt64
  /// The number up to which everything is published; at least the number of the last change.
  public var to: UInt64
  /// Whether the engine acknowledged these changes before, and lost them since.
  public var again: Bool
  /// The changes, ascending; at most ``FleetLimits/changesPerMessage``.
  public var changes: [FleetCellChange]

  /// Creates a batch.
  public init(prev: UInt64, from: UInt64, to: UInt64, again: Bool = false, changes: [FleetCellChange]) {
    self.prev = prev
    self.from = from
    self.to = to
    self.again = again
    self.changes = changes
  }
}

/// One transition of one target at one agent.
public struct FleetCellChange: Hashable, Sendable {
  /// The number of the event in the agent's store.
  public var number: UInt64
  /// The target's id.
  public var target: String
  /// The state before.
  public var old: TargetState
  /// The state after; nil when the agent does not check the target any longer.
  public var cell: FleetCellState?
  /// When it happened, by the agent's wall clock; for display only.
  public var time: Timestamp
  /// How many earlier changes of this target are missing because the outbox was full.
  public var skipped: UInt64

  /// Creates a change.
  public init(
    number: UInt64, target: String, old: TargetState, cell: FleetCellState?, time: Timestamp, skipped: UInt64 = 0
  ) {
    self.number = number
    self.target = target
    self.old = old
    self.cell = cell
    self.time = time
    self.skipped = skipped
  }
}

/// A part of a base: all cells of an agent after everything up to a number.
///
/// All parts are published one after another, without changes between them; readers apply them when all have arrived.
public struct FleetBasePart: Hashable, Sendable {
  /// ``AgentMessage/to`` of the previous message of the epoch, 0 at its start.
  public var prev: UInt64
  /// The agent's number that the cells correspond to.
  public var number: UInt64
  /// The index of this part, from 1.
  public var part: Int
  /// The number of parts.
  public var of: Int
  /// The cells of this part; at most ``FleetLimits/changesPerMessage``.
  public var cells: [FleetBaseCell]

  /// Creates a part.
  public init(prev: UInt64, number: UInt64, part: Int, of: Int, cells: [FleetBaseCell]) {
    self.prev = prev
    self.number = number
    self.part = part
    self.of = of
    self.cells = cells
  }
}

/// A cell of a base.
public struct FleetBaseCell: Hashable, Sendable {
  /// The target's id.
  public var target: String
  /// Its state.
  public var cell: FleetCellState

  /// Creates a cell.
  public init(_ target: String, _ cell: FleetCellState) {
    self.target = target
    self.cell = cell
  }
}
