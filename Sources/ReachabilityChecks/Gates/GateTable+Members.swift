internal import ReachabilityModel

// The members of gates: which targets they are, and what is reported of them.
extension GateTable {
  /// Finds the members of a gate among all targets.
  mutating func collectMembers(of definition: GateDefinition) {
    let id = definition.id
    gates[id]?.isTooLarge = false
    gates[id]?.members = GateMembers()
    for name in definition.targets {
      _ = gates[id]?.members.moveNamed(from: nil, to: targets.find(name)?.target.state ?? .notRegistered)
    }
    guard !definition.selection.isEmpty else { return }
    for (number, entry) in targets.all where definition.selects(entry.id, entry.target) {
      select(number, from: nil, to: entry.target.state, for: id)
    }
  }

  /// Applies what has become of a target; nil when it is not registered any more.
  mutating func update(_ id: String, _ target: Target?) {
    let old = targets.find(id)
    guard let number = target.map({ targets.put(id, $0) }) ?? old?.number else { return }
    if target == nil { targets.remove(id) }
    let states = (old: old?.target.state ?? .notRegistered, new: target?.state ?? .notRegistered)
    for gate in index.gates(naming: id)
    where gates[gate]?.members.moveNamed(from: states.old, to: states.new) == true { touched.insert(gate) }
    let before = old.map { index.gates(selecting: id, $0.target) } ?? []
    let after = target.map { $0.isSelected(as: old?.target) ? before : index.gates(selecting: id, $0) } ?? []
    for gate in before.union(after) {
      select(
        number, from: before.contains(gate) ? states.old : nil, to: after.contains(gate) ? states.new : nil, for: gate)
    }
    // One of too many may have left.
    for gate in before.subtracting(after) where gates[gate]?.isTooLarge == true { uncounted.insert(gate) }
  }

  /// Applies the state of a target whose definition is unchanged.
  mutating func setState(_ id: String, _ state: GateMemberState) {
    guard var target = targets.find(id)?.target, target.state != state else { return }
    target.state = state
    update(id, target)
  }

  private mutating func select(
    _ number: Int, from old: GateMemberState?, to new: GateMemberState?, for gate: String
  ) {
    // The members are not held here, because a change would copy them.
    guard gates[gate]?.isTooLarge == false, let count = gates[gate]?.members.count else { return }
    guard old != nil || count < Limits.gateMembers else {
      gates[gate]?.members.removeSelected()
      gates[gate]?.isTooLarge = true
      touched.insert(gate)
      return
    }
    if gates[gate]?.members.moveSelected(number, from: old, to: new) == true { touched.insert(gate) }
  }

  // MARK: - Reports

  /// The report of a gate; nil when there is none.
  mutating func report(of id: String) -> GateReport? {
    guard let gate = gates[id] else { return nil }
    if let missing = gate.missing { return gate.report(missing: missing) }
    var worst = GateWorstMembers()
    let counts = gate.members.counts
    if counts.total > counts[.up] { forEachMember(of: gate) { worst.add($0, $1) } }
    gates[id]?.missing = worst.ids
    return gate.report(missing: worst.ids)
  }

  /// The members of a gate with their states, in any order; nil when there is no such gate.
  func members(of id: String) -> [(id: String, state: GateMemberState)]? {
    guard let gate = gates[id] else { return nil }
    var members: [(id: String, state: GateMemberState)] = []
    forEachMember(of: gate) { members.append(($0, $1)) }
    return members
  }

  private func forEachMember(of gate: GateEntry, _ body: (String, GateMemberState) -> Void) {
    for name in gate.definition.targets { body(name, targets.find(name)?.target.state ?? .notRegistered) }
    for number in gate.members.numbers.numbers {
      if let entry = targets[number] { body(entry.id, entry.target.state) }
    }
  }
}
