internal import ReachabilityModel

/// Which targets of the fleet depend on which, and which of those that others name are failing: a part of the fold.
public struct FleetDependencies: Sendable {
  /// The targets that name a target, by its id; it need not be defined.
  private var children: [String: Set<String>] = [:]
  /// The states of the targets that others name, after the last message that concerns each.
  private var states: [String: TargetDependency.ParentState] = [:]
  /// Those whose state may be another one after the present message.
  private var touched: Set<String> = []

  /// The targets that name a target.
  public func children(of id: String) -> Set<String> { children[id] ?? [] }

  /// The state of a target that others name.
  func state(of id: String) -> TargetDependency.ParentState { states[id] ?? .ignored }

  /// Replaces the entries of a target, whose definition has changed; nil for none.
  mutating func set(_ id: String, from old: FleetTarget?, to new: FleetTarget?) {
    touch(id)
    let (old, new) = (old?.spec.dependsOn ?? [], new?.spec.dependsOn ?? [])
    guard old != new else { return }
    for parent in Set(old.flatMap(\.parents)) {
      children[parent]?.remove(id)
      guard children[parent]?.isEmpty == true else { continue }
      (children[parent], states[parent]) = (nil, nil)
    }
    for parent in Set(new.flatMap(\.parents)) {
      children[parent, default: []].insert(id)
      touched.insert(parent)
    }
  }

  /// Notes that the present message concerns a target.
  mutating func touch(_ id: String) { if children[id] != nil { touched.insert(id) } }

  /// Removes and returns the targets whose state may be another one after the present message.
  mutating func takeTouched() -> Set<String> {
    defer { touched = [] }
    return touched
  }

  /// Replaces the states of targets.
  ///
  /// - Parameter new: the states of the targets that others name.
  /// - Returns: those that depend on targets whose state is another one now, also through others: their root may be, too.
  mutating func update(_ new: [(id: String, state: TargetDependency.ParentState)]) -> Set<String> {
    var open: [String] = []
    for (id, state) in new where children[id] != nil && state != self.state(of: id) {
      states[id] = state
      open.append(id)
    }
    var found: Set<String> = []
    while let next = open.popLast() {
      for child in children(of: next) where found.insert(child).inserted { open.append(child) }
    }
    return found
  }
}
