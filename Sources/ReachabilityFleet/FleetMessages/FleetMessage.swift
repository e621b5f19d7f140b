/// A message of the stream.
public enum FleetMessage: Hashable, Sendable {
  /// Transitions or a base of an agent.
  case agent(AgentMessage)
  /// A node starts, ends, or is silent.
  case node(NodeMessage)
  /// A proposed verdict.
  case verdict(VerdictMessage)
  /// A version of a target.
  case definition(DefinitionMessage)

  /// The subject that it is published on.
  public var subject: FleetSubject {
    switch self {
    case .agent(let message): .events(message.agent)
    case .node(let message): .node(message.id)
    case .verdict(let message): .verdict(message.target)
    case .definition(let message): .target(message.id)
    }
  }
}

extension FleetMessage {
  /// The node whose own message it is: it was running when it sent it.
  var sender: String? {
    switch self {
    case .agent(let message): message.agent
    case .node(let message):
      if case .lost = message.content { nil } else { message.id }
    case .verdict, .definition: nil
    }
  }

  /// The node that says `hello` again, as a running one does that is reported as lost.
  var resumed: String? {
    guard case .node(let message) = self, case .hello(_, restates: true, _) = message.content else { return nil }
    return message.id
  }
}

/// A message that is not stored: `rx2.hb.<agent>` every two seconds, and when a check fails.
public struct HeartbeatMessage: Hashable, Sendable {
  /// The agent.
  public var agent: String
  /// A random number of the process: two processes with one id differ in it.
  public var instance: UInt64
  /// Changes that wait for the engine.
  public var outbox: Int
  /// The stream sequence of the agent's `hello`; 0 while it has none.
  public var hello: UInt64
  /// Targets that were up, and whose check has just failed for the first time; at most
  /// ``FleetLimits/suspectsPerHeartbeat``.
  public var suspects: [String]

  /// Creates a heartbeat.
  public init(agent: String, instance: UInt64, outbox: Int, hello: UInt64, suspects: [String] = []) {
    self.agent = agent
    self.instance = instance
    self.outbox = outbox
    self.hello = hello
    self.suspects = suspects
  }
}

/// A request on `rx2.ask.<agent>`, which is not stored.
public enum AgentRequest: Hashable, Sendable {
  /// Is an agent with this id running? It answers with ``AgentReply/instance(_:)``.
  case ping
  /// Publish a base, unless a complete one lies in the stream behind this position, which the replica has read.
  case base(after: FleetEngineStreamPosition)
  /// Check these targets now; the results count as those of scheduled checks, also without a reply.
  case check(targets: [String])
}

/// The answer to an ``AgentRequest``.
public enum AgentReply: Hashable, Sendable {
  /// The random number of the agent's process.
  case instance(UInt64)
  /// A base follows.
  case accepted
  /// The last complete base ends at this stream sequence, behind the position of the request.
  case published(UInt64)
  /// The results of the checks that the agent performed.
  case results([FleetCheckResult])
}
