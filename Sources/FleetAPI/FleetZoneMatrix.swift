internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet

/// What the matrix is about.
enum FleetMatrixSubjects: String, CaseIterable {
  /// The checks of agents by each other.
  case agents
  /// The targets of the fleet.
  case targets

  func includes(_ target: String) -> Bool { (FleetMesh.agent(of: target) == nil) == (self == .targets) }
}

/// The matrix by zones: how many agents of a zone report each state, about a target or about the agents of a zone.
struct FleetZoneMatrix {
  /// The agents of one zone and one target, or those of two zones.
  struct Group {
    var subjects: FleetMatrixSubjects
    /// The zone of the agents that check.
    var from: String
    /// The id of a target, or the zone of the agents that are checked.
    var to: String
    /// The number of cells with each state.
    var counts: [(state: TargetState, count: Int)]

    /// The position in the order of all groups; `:` is in no id and in no zone of the settings.
    var key: String { "\(subjects.rawValue):\(to):\(from)" }

    /// Whether it comes after a position that ``key`` describes.
    func follows(_ position: [String]) -> Bool {
      (subjects.rawValue, to, from) > (position[0], position[1], position[2])
    }

    var document: JSON {
      .object([
        .init("of", text: subjects.rawValue), .init("from", text: from), .init("to", text: to),
        .init("states", .object(counts.map { JSON.Member($0.state.rawValue, count: $0.count) })),
      ])
    }
  }

  private struct Pair: Hashable {
    var from: String
    var to: String
  }

  /// The groups in their order.
  let groups: [Group]

  /// Counts the cells of a snapshot; nil for all subjects.
  init(
    _ snapshot: FleetSnapshot, subjects: FleetMatrixSubjects? = nil,
    where isWanted: (String, String) -> Bool = { _, _ in true }
  ) {
    var groups: [Group] = []
    for subject in FleetMatrixSubjects.allCases where subjects == nil || subjects == subject {
      var counts: [Pair: [TargetState: Int]] = [:]
      for (agent, node) in snapshot.agents {
        let from = node.hello?.zone ?? ""
        for target in node.cells.keys where subject.includes(target) && isWanted(agent, target) {
          guard let cell = node.vote(target) else { continue }
          var to = target
          if let peer = FleetMesh.agent(of: target) {
            guard let checked = snapshot.fold.nodes[peer], checked.isAgent else { continue }
            to = checked.hello?.zone ?? ""
          }
          counts[Pair(from: from, to: to), default: [:]][cell.state, default: 0] += 1
        }
      }
      groups += counts.sorted { ($0.key.to, $0.key.from) < ($1.key.to, $1.key.from) }.map { pair, counts in
        Group(
          subjects: subject, from: pair.from, to: pair.to,
          counts: TargetState.allCases.map { ($0, counts[$0] ?? 0) })
      }
    }
    self.groups = groups
  }
}
