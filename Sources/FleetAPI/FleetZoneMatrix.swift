internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet

enum FleetMatrixSubjects: String, CaseIterable {
  /// The checks of agents by each other.
  case agents
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

  /// The number of cells with each state, without an allocation for each group.
  private struct Counts {
    private var up = 0
    private var down = 0
    private var unreachable = 0
    private var unknown = 0
    private var paused = 0

    var all: [(state: TargetState, count: Int)] { TargetState.allCases.map { ($0, count(of: $0)) } }

    private func count(of state: TargetState) -> Int {
      switch state {
      case .up: up
      case .down: down
      case .unreachable: unreachable
      case .unknown: unknown
      case .paused: paused
      }
    }

    mutating func add(_ state: TargetState) {
      switch state {
      case .up: up += 1
      case .down: down += 1
      case .unreachable: unreachable += 1
      case .unknown: unknown += 1
      case .paused: paused += 1
      }
    }

    mutating func add(_ other: Counts) {
      up += other.up
      down += other.down
      unreachable += other.unreachable
      unknown += other.unknown
      paused += other.paused
    }
  }

  let groups: [Group]

  /// Counts the cells of some agents in a snapshot.
  ///
  /// - Parameters:
  ///   - snapshot: the cells.
  ///   - subjects: what they are about; nil for all subjects.
  ///   - target: the id of the only target; nil for all targets.
  ///   - isWanted: whether the cells of an agent are counted.
  init(
    _ snapshot: FleetSnapshot, subjects: FleetMatrixSubjects? = nil, target: String? = nil,
    where isWanted: (String, FleetFoldedNode) -> Bool = { _, _ in true }
  ) {
    var zones: [String: [(id: String, node: FleetFoldedNode)]] = [:]
    for agent in snapshot.agents where isWanted(agent.id, agent.node) {
      zones[agent.node.hello?.zone ?? "", default: []].append(agent)
    }
    var groups: [Group] = []
    let checks = snapshot.meshChecks
    for (zone, agents) in zones {
      // A fleet has a hundred thousand cells and more: each costs one lookup in the dictionary of its zone.
      var counts: [String: Counts] = [:]
      for (agent, node) in agents {
        for (id, cell) in node.cells where target == nil || target == id {
          guard subjects?.includes(id) ?? true else { continue }
          // An agent can report a cell of any other one; only those that it has to check count.
          if let peer = FleetMesh.agent(of: id), !checks.contains(peer, checkedBy: agent) { continue }
          counts[id, default: Counts()].add(node.votes ? cell.state : cell.silenced().state)
        }
      }
      groups += Self.groups(counts, from: zone, snapshot)
    }
    self.groups = groups.sorted { ($0.subjects.rawValue, $0.to, $0.from) < ($1.subjects.rawValue, $1.to, $1.from) }
  }

  /// The groups of one zone's counts by target.
  private static func groups(_ counts: [String: Counts], from zone: String, _ snapshot: FleetSnapshot) -> [Group] {
    var groups: [Group] = []
    var checked: [String: Counts] = [:]
    for (id, counts) in counts {
      guard let peer = FleetMesh.agent(of: id) else {
        groups.append(Group(subjects: .targets, from: zone, to: id, counts: counts.all))
        continue
      }
      guard let node = snapshot.fold.nodes[peer], node.isAgent else { continue }
      checked[node.hello?.zone ?? "", default: Counts()].add(counts)
    }
    return groups + checked.map { Group(subjects: .agents, from: zone, to: $0.key, counts: $0.value.all) }
  }
}
