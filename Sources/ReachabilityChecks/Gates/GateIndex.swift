internal import ReachabilityModel

/// Finds the gates that a target concerns: by its id, and by one label of each selection.
struct GateIndex {
  private struct Label: Hashable {
    var name: String
    var value: String
  }

  /// The gates that name a target, by its id.
  private var naming: [String: Set<String>] = [:]
  /// The gates that select targets, by the first of their labels.
  private var selecting: [Label: [String: GateDefinition]] = [:]

  /// Adds a gate.
  mutating func insert(_ definition: GateDefinition) {
    for target in definition.targets { naming[target, default: []].insert(definition.id) }
    if let label = Self.label(definition) { selecting[label, default: [:]][definition.id] = definition }
  }

  /// Removes a gate.
  mutating func remove(_ definition: GateDefinition) {
    for target in definition.targets {
      naming[target]?.remove(definition.id)
      if naming[target]?.isEmpty == true { naming[target] = nil }
    }
    if let label = Self.label(definition) {
      selecting[label]?[definition.id] = nil
      if selecting[label]?.isEmpty == true { selecting[label] = nil }
    }
  }

  private static func label(_ definition: GateDefinition) -> Label? {
    definition.selection.min { $0.key < $1.key }.map { Label(name: $0.key, value: $0.value) }
  }

  /// The gates that name a target.
  func gates(naming id: String) -> Set<String> { naming[id] ?? [] }

  /// The gates whose labels select a target that they do not name.
  func gates(selecting id: String, _ target: GateTable.Target) -> Set<String> {
    guard !selecting.isEmpty else { return [] }
    var found: Set<String> = []
    for (name, value) in target.labels {
      for (gate, definition) in selecting[Label(name: name, value: value)] ?? [:]
      where definition.selects(id, target) { found.insert(gate) }
    }
    return found
  }
}

extension GateDefinition {
  /// Whether its labels select a target that it does not name.
  func selects(_ id: String, _ target: GateTable.Target) -> Bool {
    !selection.isEmpty && (target.origin != .runtime || includesClients) && !targets.contains(id)
      && selection.allSatisfy { target.labels[$0] == $1 }
  }
}
