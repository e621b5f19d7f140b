extension FleetAgentChain {
  /// What the chain has to react to.
  public enum Input: Hashable, Sendable {
    /// The engine is connected, or is not any longer.
    case connection(Bool)
    /// The store has events up to this number.
    case appended(UInt64)
    /// All cells are to be published: at `hello`.
    case baseRequested
    /// A replica that has read the stream up to this position requests all cells.
    case baseRequestedAfter(FleetEngineStreamPosition)
    /// The stream was created at this time.
    case stream(created: Int64)
    /// The time of the last ``Effect/wake(at:)`` has come.
    case timer
    /// An action has ended.
    case completed(Outcome, operation: UInt64)
  }

  /// What the caller has to do.
  public enum Effect: Hashable, Sendable {
    /// Perform this, and report ``Input/completed(_:operation:)`` with the number.
    case perform(Action, operation: UInt64)
    /// Keep this in the store.
    case save(FleetAcknowledgement)
    /// Report ``Input/timer`` at this time; it replaces earlier ones.
    case wake(at: Duration)
    /// Another process publishes as this agent; the chain publishes nothing any longer.
    case conflict(epoch: String)
    /// Replicas reject this change or base for this reason: it is left out, and readers see a gap.
    case leftOut(AgentMessage, reason: String)
  }

  /// A call to the engine or the store; at most one is under way.
  public enum Action: Hashable, Sendable {
    /// Read the last message on the agent's subject.
    case readLastMessage
    /// Read the outbox.
    case readChanges(after: UInt64, limit: Int)
    /// Read all cells.
    case readBase
    /// Publish a message on the agent's subject.
    case publish(AgentMessage, FleetEngineExpectedLast)
  }

  /// How an action ended.
  public enum Outcome: Hashable, Sendable {
    /// The last message on the agent's subject.
    case lastMessage(Result<OwnMessage?, FleetEngineError>)
    /// A page of the outbox.
    case changes(Result<FleetOutboxPage, FleetStoreError>)
    /// All cells.
    case base(Result<FleetAgentBase, FleetStoreError>)
    /// The stream sequence of the published message.
    case published(Result<UInt64, FleetEngineError>)
  }

  /// What a handshake needs of the agent's last message in the stream.
  public struct OwnMessage: Hashable, Sendable {
    /// Its stream sequence.
    public var sequence: UInt64
    /// The store that it comes from; nil when the message is not understood.
    public var epoch: String?
    /// The number up to which the stream has that store's events.
    public var to: UInt64

    /// Creates it from a message and its stream sequence.
    public init(_ message: AgentMessage, sequence: UInt64) {
      self.sequence = sequence
      epoch = message.epoch
      to = message.to
    }

    /// Creates it from its parts.
    public init(sequence: UInt64, epoch: String?, to: UInt64) {
      self.sequence = sequence
      self.epoch = epoch
      self.to = to
    }
  }
}
