/// The decision which agents check which other agents.
public enum FleetMesh {
  /// The number of agents up to which each checks all others.
  public static let fullMesh = 32
  /// The number of agents that each checks above that, half of them in its zone: sparse random graphs stay connected
  /// with far fewer edges than pairs.
  public static let degree = 16
  /// The prefix of the targets' ids; no other target of the fleet has it.
  public static let prefix = "mesh."

  /// The id of the target that checks an agent.
  public static func target(of agent: String) -> String { prefix + agent }

  /// The agent that a target checks; nil for other targets.
  public static func agent(of target: String) -> String? {
    target.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : nil
  }

  /// An agent that others can check.
  public struct Peer: Hashable, Sendable {
    /// The agent's id.
    public var id: String
    /// Its zone.
    public var zone: String
  }

  /// The agents that one agent checks, sorted by id.
  ///
  /// - Parameters:
  ///   - agent: the agent that checks.
  ///   - peers: all agents with an address; `agent` may be among them.
  /// - Returns: their ids.
  public static func peers(of agent: Peer, among peers: [Peer]) -> [String] {
    let others = peers.filter { $0.id != agent.id }
    guard others.count >= fullMesh else { return others.map(\.id).sorted() }
    let near = FleetRendezvousHash.order(others.lazy.filter { $0.zone == agent.zone }.map(\.id), for: agent.id)
    let far = FleetRendezvousHash.order(others.lazy.filter { $0.zone != agent.zone }.map(\.id), for: agent.id)
    // A zone with few agents leaves its places to the others.
    let nearCount = min(near.count, max(degree / 2, degree - far.count))
    return (near.prefix(nearCount) + far.prefix(degree - nearCount)).sorted()
  }
}
