public import ReachabilityModel

/// A version of a fleet target on `rx2.roster.target.<id>`.
public struct DefinitionMessage: Hashable, Sendable {
  /// The target's id.
  public var id: String
  /// The version, one higher than the one it replaces; the first is 1.
  ///
  /// Of two messages with one version the first counts.
  public var version: UInt64
  /// The definition; nil when the target is deleted.
  public var definition: FleetTarget?
  /// Whether nothing has changed, and the message is published only because the stream drops old ones or lost them.
  public var restates: Bool

  /// Creates a message.
  public init(id: String, version: UInt64, definition: FleetTarget?, restates: Bool = false) {
    self.id = id
    self.version = version
    self.definition = definition
    self.restates = restates
  }
}

/// A target of the fleet: what agents check, which agents do, and how their votes decide.
public struct FleetTarget: Hashable, Sendable {
  /// The fields of the check as the client gave them; its id is the target's id.
  ///
  /// Agents resolve the module by its name.
  public var spec: TargetSpec
  /// The agents that check it.
  public var placement: FleetPlacement
  /// How their votes decide.
  public var quorum: FleetQuorumRule

  /// Creates a target.
  public init(
    spec: TargetSpec, placement: FleetPlacement = FleetPlacement(), quorum: FleetQuorumRule = FleetQuorumRule()
  ) {
    self.spec = spec
    self.placement = placement
    self.quorum = quorum
  }
}

/// Which agents check a target.
public struct FleetPlacement: Hashable, Sendable {
  /// The labels that an agent must have, all of them; empty for all agents.
  public var select: [String: String]
  /// How many of them check; nil for all.
  public var count: Int?
  /// Whether the agents come from as many zones as possible.
  public var spreadsZones: Bool

  /// Creates a placement; without arguments, all agents.
  public init(select: [String: String] = [:], count: Int? = nil, spreadsZones: Bool = false) {
    self.select = select
    self.count = count
    self.spreadsZones = spreadsZones
  }
}

/// How votes decide.
public struct FleetQuorumRule: Hashable, Sendable {
  /// The votes that make a verdict `down`; nil for the majority of the voters.
  public var down: Threshold?
  /// The voters that a verdict needs; nil for half of the assigned agents.
  public var minimum: Threshold?
  /// The zones that must contain an agent that says `down`.
  public var zones: Int

  /// A number of agents.
  public enum Threshold: Hashable, Sendable {
    /// So many agents.
    case count(Int)
    /// A share, from 1 to 100: of the voters for `down`, of the assigned agents for `minimum`; rounded up.
    case percent(Int)
  }

  /// Creates a rule; without arguments, the majority.
  public init(down: Threshold? = nil, minimum: Threshold? = nil, zones: Int = 1) {
    self.down = down
    self.minimum = minimum
    self.zones = zones
  }
}
