extension FleetReplica {
  /// What the replica has to react to.
  public enum Input: Sendable {
    /// The engine is connected, or is not any longer.
    case connection(Bool)
    /// The state of the stream, as ``Effect/readStreamState(since:)`` with this sequence requested it; nil when there is
    /// none or it is not known.
    case streamState(FleetEngineStreamState?, since: UInt64)
    /// A message of the stream; nil for one that is not understood.
    case message(FleetMessage?, FleetEngineStoredMessage, pending: UInt64)
    /// Deliveries stopped.
    case interrupted
    /// Heartbeats of nodes arrived, at these monotonic times.
    case heartbeats([String: Duration])
    /// A check of these targets has failed at an agent for the first time.
    case suspected([String], by: String)
    /// The engine has no subscription of an agent that was asked.
    case absent(String)
    /// An agent has answered a question; nil when it did not in time.
    case answered(FleetQuestion, [FleetCheckResult]?)
    /// The time of the last ``Effect/wake(at:)`` has come.
    case timer
  }

  /// What the caller has to do.
  public enum Effect: Sendable, Hashable {
    /// Read the state of the stream, and create the stream if there is none.
    ///
    /// - Parameter since: the last message that is folded now, to report with the answer.
    case readStreamState(since: UInt64)
    /// Consume the stream from this sequence on, instead of an earlier consumption.
    case consume(from: UInt64)
    /// Publish a message; what became of it is seen in the stream.
    case publish(FleetMessage, expecting: FleetEngineExpectedLast?)
    /// Request a base of this agent, which must be behind this position in the stream.
    case requestBase(String, after: FleetEngineStreamPosition)
    /// Ask this agent whether it is there; only ``Input/absent(_:)`` is an answer.
    case ask(String)
    /// Ask this agent to check targets now; its results come as its votes.
    case requestChecks(agent: String, targets: [String])
    /// Ask an agent to check targets now, and report ``Input/answered(_:_:)``.
    case question(FleetQuestion)
    /// Publish these events, in this order.
    case events([FleetEvent])
    /// The stream has dropped messages before this one that were not read: subscribers that have events before it get the
    /// event `gap`, and then a snapshot.
    case hole(before: UInt64)
    /// The fold began again: every subscriber gets the event `gap` and then a snapshot.
    case restarted
    /// Report ``Input/timer`` at this time; it replaces earlier ones.
    case wake(at: Duration)
  }
}
