internal import ReachabilityModel

/// Finds the gates that a target concerns: by its id, and by one label of each selection.
struct GateIndex {
  /// The gates that name a target, by its id.
  private var naming: [String: Set<String>] = [:]
  /// The gates that select targets, by the first of their labels.
  private var selecting: [[String]: [String: GateDefinition]] = [:]
  /// The gates that have selected a target, by its id.
  private var selections: [String: Set<String>] = [:]

  /// Adds a gate.
  mutating func insert(_ definition: GateDefinition) {
    for target in definition.targets { naming[target, default: []].insert(definition.id) }
    if let label = Self.label(definition) { selecting[label, default: [:]][definition.id] = definition }
  }

  /// Removes a gate with its members.
  mutating func remove(_ definition: GateDefinition, members: some Sequence<String>) {
    let gate = definition.id
    for target in definition.targets { naming.remove(gate, from: target) }
    if let label = Self.label(definition) {
      selecting[label]?[gate] = nil
      if selecting[label]?.isEmpty == true { selecting[label] = nil }
    }
    for target in members { deselect(target, from: gate) }
  }

  private static func label(_ definition: GateDefinition) -> [String]? {
    definition.selection.min { $0.key < $1.key }.map { [$0.key, $0.value] }
  }

  /// The gates that name a target.
  func gates(naming id: String) -> Set<String> { naming[id] ?? [] }

  /// The gates that have selected a target.
  func gates(with id: String) -> Set<String> { selections[id] ?? [] }

  /// The gates whose labels select a target that they do not name.
  func gates(selecting id: String, _ target: GateTable.Target) -> Set<String> {
    guard !selecting.isEmpty else { return [] }
    var found: Set<String> = []
    for (name, value) in target.labels {
      for (gate, definition) in selecting[[name, value]] ?? [:] where !definition.targets.contains(id) {
        guard target.origin != .runtime || definition.includesClients,
          definition.selection.allSatisfy({ target.labels[$0] == $1 })
        else { continue }
        found.insert(gate)
      }
    }
    return found
  }

  /// Notes that a gate has selected a target.
  mutating func select(_ id: String, for gate: String) { selections[id, default: []].insert(gate) }

  /// Notes that a gate does not have a target any more.
  mutating func deselect(_ id: String, from gate: String) { selections.remove(gate, from: id) }
}

extension Dictionary where Value == Set<String> {
  /// Removes an element from the set of a key, and the key with its last element.
  fileprivate mutating func remove(_ element: String, from key: Key) {
    self[key]?.remove(element)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
