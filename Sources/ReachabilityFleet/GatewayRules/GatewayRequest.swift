public import ReachabilityModel

/// A request of an agent to the replicas, on `rx2.in.<agent>`; one of them answers with a ``GatewayAnswer``.
///
/// Each may be sent again, also to another replica: nothing is stored twice.
public enum GatewayRequest: Hashable, Sendable {
  /// Store a message of the agent's chain, if its last one is the one that the message names.
  case publish(AgentMessage)
  /// Read the agent's last message of its chain.
  case last
  /// Compare what the agent knows with the stream.
  case confirm(roster: String?)
  /// Read a page of the list of what the agent checks, after a target; nil for the first.
  case roster(after: String?)
  /// Ask what became of targets that the list does not have.
  case missing([String])
  /// Take part, as the process with this instance.
  case hello(GatewayHello)
  /// End in order.
  case bye(instance: UInt64)
}

/// An agent's attributes, for its `hello`; the replica that stores it adds the role.
public struct GatewayHello: Hashable, Sendable {
  /// The random number of the agent's process.
  public var instance: UInt64
  /// The stream sequence of this process's last `hello`; 0 before the first.
  public var known: UInt64
  /// Whether the one that the stream has is published again, because the stream drops it soon.
  public var restates: Bool
  /// The attributes; the role is always that of an agent.
  public var attributes: NodeHello

  /// Creates it.
  public init(instance: UInt64, known: UInt64, restates: Bool, attributes: NodeHello) {
    self.instance = instance
    self.known = known
    self.restates = restates
    self.attributes = attributes
  }
}

/// The answer of a replica to a ``GatewayRequest``.
public enum GatewayAnswer: Hashable, Sendable {
  /// The stream has the message, with this sequence; 0 if there was nothing to store.
  case stored(UInt64)
  /// The last message of the subject is another one.
  case refused
  /// The agent may send the same request again after this time.
  case slowDown(Duration)
  /// Such a request is never answered otherwise, for this reason.
  case rejected(String)
  /// The engine did not do it now, or the effect is not known; the agent tries again.
  case failed(String)
  /// Another process with this agent's id is running.
  case duplicate
  /// The agent's last message of its chain; nil for none.
  case last(FleetAgentChain.OwnMessage?)
  /// What the agent compares.
  case confirmed(GatewayConfirmation)
  /// A page of what the agent checks.
  case roster(GatewayRosterPage)
  /// What became of targets; without those of which the replica does not know it.
  case missing(ended: [String])
}

/// What a replica knows about an agent and the stream.
public struct GatewayConfirmation: Hashable, Sendable {
  /// The state of the stream, at most two seconds old.
  public var stream: FleetEngineStreamState
  /// The stream sequence of the `hello` by which the agent is present; nil when it is not.
  public var hello: UInt64?
  /// The list of what the agent checks; nil while the replica does not know it.
  public var roster: Roster?

  /// The identity of a list.
  public struct Roster: Hashable, Sendable {
    /// The last message that the replica has read.
    public var position: FleetEngineStreamPosition
    /// The hash of the list.
    public var hash: String

    /// Creates it.
    public init(position: FleetEngineStreamPosition, hash: String) {
      self.position = position
      self.hash = hash
    }
  }

  /// Creates it.
  public init(stream: FleetEngineStreamState, hello: UInt64?, roster: Roster?) {
    self.stream = stream
    self.hello = hello
    self.roster = roster
  }
}

/// A part of the list of what an agent checks.
public struct GatewayRosterPage: Hashable, Sendable {
  /// Which list it is a part of.
  public var roster: GatewayConfirmation.Roster
  /// The checks, sorted by id.
  public var checks: [TargetSpec]
  /// The target after which the next page begins; nil for the last page.
  public var next: String?

  /// Creates a page.
  public init(roster: GatewayConfirmation.Roster, checks: [TargetSpec], next: String?) {
    self.roster = roster
    self.checks = checks
    self.next = next
  }
}
