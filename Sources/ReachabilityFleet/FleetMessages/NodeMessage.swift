/// A message on `rx2.roster.node.<id>`: an agent or a replica starts, ends, or is silent.
public struct NodeMessage: Hashable, Sendable {
  /// The id of the agent or replica.
  public var id: String
  /// What happened.
  public var content: Content

  /// What happened to a node.
  public enum Content: Hashable, Sendable {
    /// It takes part; repeated when one of its attributes changes, and when it reads its own `lost`.
    ///
    /// - Parameters:
    ///   - hello: its attributes.
    ///   - restates: whether nothing has changed, and the message is published only because the stream drops old ones.
    ///   - instance: the random number of an agent's process; 0 for a replica.
    case hello(NodeHello, restates: Bool, instance: UInt64 = 0)
    /// It ends in order, and its targets move immediately.
    case bye
    /// A replica reports that it is silent.
    ///
    /// - Parameters:
    ///   - hello: the stream sequence of the `hello` that it ends; without effect after a later `hello`.
    ///   - attributes: the node's attributes, for readers that begin after the `hello`.
    ///   - by: the id of the replica.
    case lost(hello: UInt64, attributes: NodeHello, by: String)
  }

  /// Creates a message.
  public init(id: String, _ content: Content) {
    self.id = id
    self.content = content
  }
}

/// The attributes of a node.
public struct NodeHello: Hashable, Sendable {
  /// What it does in the fleet.
  public var role: Role
  /// The zone, empty for none: nodes of one zone fail together.
  public var zone: String
  /// Labels that placements select by.
  public var labels: [String: String]
  /// Where other agents reach this agent, as a target of checks: `tcp://192.0.2.7:8080`, `icmp://192.0.2.7`; nil when it
  /// takes no part in the mesh.
  public var address: String?
  /// The version of the program.
  public var version: String

  /// The two kinds of nodes.
  public enum Role: String, Hashable, Sendable, CaseIterable {
    /// It checks and reports.
    case agent
    /// It folds and serves.
    case replica
  }

  /// Creates attributes.
  public init(role: Role, zone: String = "", labels: [String: String] = [:], address: String? = nil, version: String) {
    self.role = role
    self.zone = zone
    self.labels = labels
    self.address = address
    self.version = version
  }
}
