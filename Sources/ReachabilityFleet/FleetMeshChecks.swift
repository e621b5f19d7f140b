/// Which agents check which other agents at one moment, as the roster of each says.
///
/// An agent can report a cell of any target: what it says about an agent counts only where it has to check that one.
public struct FleetMeshChecks: Sendable {
  /// What decides it.
  private struct Agent: Hashable {
    var id: String
    var zone: String
    var hasAddress: Bool
  }

  private let agents: [Agent]
  private let checked: [String: Set<String>]

  /// Decides it for the agents of a fold.
  public init(_ fold: FleetFold) {
    let agents = Self.agents(fold)
    self.agents = agents
    let peers = agents.lazy.filter(\.hasAddress).map { FleetMesh.Peer(id: $0.id, zone: $0.zone) }
    let all = Array(peers)
    checked = Dictionary(
      agents.map { ($0.id, Set(FleetMesh.peers(of: FleetMesh.Peer(id: $0.id, zone: $0.zone), among: all))) }
    ) { first, _ in first }
  }

  /// Whether it is the one of a fold, too.
  public func isCurrent(for fold: FleetFold) -> Bool { agents == Self.agents(fold) }

  /// Whether an agent has to check another one; never itself.
  public func contains(_ other: String, checkedBy agent: String) -> Bool { checked[agent]?.contains(other) == true }

  private static func agents(_ fold: FleetFold) -> [Agent] {
    fold.nodes.filter(\.value.isAgent).map { id, node in
      Agent(id: id, zone: node.hello?.zone ?? "", hasAddress: node.hello?.address != nil)
    }
    .sorted { $0.id < $1.id }
  }
}
