/// The decision which agents check a target.
public enum FleetAssignment {
  /// An agent that may check targets.
  public struct Candidate: Hashable, Sendable {
    /// The agent's id.
    public var id: String
    /// Its zone.
    public var zone: String
    /// Its labels.
    public var labels: [String: String]
    /// Whether its heartbeats arrive; a lost agent is assigned only where too few others are.
    public var isPresent: Bool
  }

  /// The agents that check a target, sorted by id.
  ///
  /// A lost agent remains assigned, as an abstention, unless another agent can take its place: otherwise the silence of
  /// most agents would leave a majority to the rest.
  public static func agents(for target: String, _ placement: FleetPlacement, among candidates: [Candidate]) -> [String]
  {
    let selected = candidates.filter { candidate in
      placement.select.allSatisfy { candidate.labels[$0.key] == $0.value }
    }
    guard let count = placement.count, count < selected.count else { return selected.map(\.id).sorted() }
    let byID = Dictionary(selected.map { ($0.id, $0) }) { first, _ in first }
    let ordered = FleetRendezvousHash.order(selected.map(\.id), for: target).compactMap { byID[$0] }
    let present = ordered.filter(\.isPresent)
    let lost = ordered.filter { !$0.isPresent }
    let chosen = (placement.spreadsZones ? spread(present) : present) + lost
    return chosen.prefix(count).map(\.id).sorted()
  }

  /// The same order, but an agent of each zone before the second one of any zone.
  private static func spread(_ candidates: [Candidate]) -> [Candidate] {
    var seen: [String: Int] = [:]
    var rounds: [(round: Int, index: Int)] = []
    for (index, candidate) in candidates.enumerated() {
      rounds.append((seen[candidate.zone, default: 0], index))
      seen[candidate.zone, default: 0] += 1
    }
    return rounds.sorted { ($0.round, $0.index) < ($1.round, $1.index) }.map { candidates[$0.index] }
  }
}
