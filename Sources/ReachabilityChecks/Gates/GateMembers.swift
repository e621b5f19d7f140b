internal import ReachabilityModel

/// The members of a gate with their states, and the numbers on which its rules depend.
struct GateMembers {
  /// The states by the ids of the targets.
  private(set) var states: [String: GateMemberState] = [:]
  /// The members that the gate names, by their states.
  private(set) var named = GateCounts()
  /// The other members, which its labels select.
  private(set) var selected = GateCounts()
  /// The names in the definition.
  let names: Set<String>

  /// Makes members of which only the names are known.
  init(names: Set<String>) {
    self.names = names
    for name in names { set(name, .notRegistered) }
  }

  /// All members by their states.
  var counts: GateCounts {
    var counts = named
    for state in GateMemberState.allCases { counts[state] += selected[state] }
    return counts
  }

  /// Sets the state of a member; nil for a target that is none any more.
  ///
  /// - Returns: whether that changes anything.
  @discardableResult
  mutating func set(_ id: String, _ state: GateMemberState?) -> Bool {
    let isNamed = names.contains(id)
    let state = isNamed ? state ?? .notRegistered : state
    let old = states[id]
    guard old != state else { return false }
    states[id] = state
    let counts = isNamed ? \GateMembers.named : \GateMembers.selected
    if let old { self[keyPath: counts][old] -= 1 }
    if let state { self[keyPath: counts][state] += 1 }
    return true
  }

  /// Removes all members but the names.
  mutating func removeSelected() {
    states = states.filter { names.contains($0.key) }
    selected = GateCounts()
  }

  /// The ids of members that are not up, the worst first, then by name.
  ///
  /// One pass over the members, because sorting ten thousand names would take milliseconds.
  func worst(_ limit: Int) -> [String] {
    guard counts.total > counts[.up] else { return [] }
    var found: [(id: String, rank: Int)] = []
    func isBefore(_ one: (id: String, rank: Int), _ other: (id: String, rank: Int)) -> Bool {
      (other.rank, one.id) < (one.rank, other.id)
    }
    for (id, state) in states where state != .up {
      let member = (id: id, rank: state.rank)
      if found.count == limit, let last = found.last {
        guard isBefore(member, last) else { continue }
        found.removeLast()
      }
      found.insert(member, at: found.firstIndex { isBefore(member, $0) } ?? found.endIndex)
    }
    return found.map(\.id)
  }
}
