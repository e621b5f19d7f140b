internal import DequeModule

/// Identifiers in the order in which they were added, each once.
struct IdentifierQueue {
  private var order: Deque<String> = []
  private var members: Set<String> = []

  var isEmpty: Bool { order.isEmpty }
  var count: Int { order.count }

  func contains(_ id: String) -> Bool { members.contains(id) }

  /// Adds an identifier unless it is queued already.
  mutating func append(_ id: String) { if members.insert(id).inserted { order.append(id) } }

  /// Removes and returns the first identifier.
  mutating func popFirst() -> String? {
    guard let id = order.popFirst() else { return nil }
    members.remove(id)
    return id
  }
}
