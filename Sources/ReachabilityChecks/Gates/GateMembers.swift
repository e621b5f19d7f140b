internal import ReachabilityModel

/// The members of a gate: the numbers of those that its labels select, and how many are in each state.
struct GateMembers {
  /// The members that the gate names, by their states.
  private(set) var named = GateCounts()
  /// The other members, which its labels select.
  private(set) var selected = GateCounts()
  /// The numbers of the selected targets.
  private(set) var numbers = GateNumberSet()

  /// All members by their states.
  var counts: GateCounts {
    var counts = named
    for state in GateMemberState.allCases { counts[state] += selected[state] }
    return counts
  }

  /// The number of all members.
  var count: Int { named.total + selected.total }

  /// Moves a named member from one state to another; nil for none.
  ///
  /// - Returns: whether that changes anything.
  mutating func moveNamed(from old: GateMemberState?, to new: GateMemberState) -> Bool {
    guard old != new else { return false }
    if let old { named[old] -= 1 }
    named[new] += 1
    return true
  }

  /// Moves a selected member from one state to another; nil for a target that was none, or is none any more.
  ///
  /// - Returns: whether that changes anything.
  mutating func moveSelected(_ number: Int, from old: GateMemberState?, to new: GateMemberState?) -> Bool {
    guard old != new else { return false }
    if let old { selected[old] -= 1 } else { numbers.set(number, to: true) }
    if let new { selected[new] += 1 } else { numbers.set(number, to: false) }
    return true
  }

  /// Removes all members but the named ones.
  mutating func removeSelected() { (selected, numbers) = (GateCounts(), GateNumberSet()) }
}

/// Finds the worst of a gate's members, and then the first by their ids, in one pass: to sort ten thousand would take milliseconds.
struct GateWorstMembers {
  private var found: [(id: String, rank: Int)] = []

  /// The ids in order.
  var ids: [String] { found.map(\.id) }

  /// Adds a member, if it is one of the worst ``GateStatus/missingLimit``.
  mutating func add(_ id: String, _ state: GateMemberState) {
    guard state != .up else { return }
    let member = (id: id, rank: state.rank)
    if found.count == GateStatus.missingLimit, let last = found.last {
      guard Self.isBefore(member, last) else { return }
      found.removeLast()
    }
    found.insert(member, at: found.firstIndex { Self.isBefore(member, $0) } ?? found.endIndex)
  }

  private static func isBefore(_ one: (id: String, rank: Int), _ other: (id: String, rank: Int)) -> Bool {
    (other.rank, one.id) < (one.rank, other.id)
  }
}
