internal import ReachabilityModel

/// Which targets depend on which: a value without clock and lock.
struct DependencyGraph {
  /// The entries by the id of the child.
  private var entries: [String: [TargetDependency]] = [:]
  /// The children by the id of the parent.
  private var children: [String: Set<String>] = [:]

  /// Whether no target depends on another.
  var isEmpty: Bool { entries.isEmpty }

  /// Replaces the entries of a target.
  ///
  /// - Returns: whether they are others.
  mutating func set(_ id: String, _ dependsOn: [TargetDependency]) -> Bool {
    let old = entries[id] ?? []
    guard old != dependsOn else { return false }
    for parent in Self.parents(old) {
      children[parent]?.remove(id)
      if children[parent]?.isEmpty == true { children[parent] = nil }
    }
    entries[id] = dependsOn.isEmpty ? nil : dependsOn
    for parent in Self.parents(dependsOn) { children[parent, default: []].insert(id) }
    return true
  }

  private static func parents(_ entries: [TargetDependency]) -> Set<String> { Set(entries.flatMap(\.parents)) }

  /// The targets that depend on others.
  var ids: some Collection<String> { entries.keys }

  /// The parents of a target, each once.
  func parents(of id: String) -> Set<String> { Self.parents(entries[id] ?? []) }

  /// The targets that name a target.
  func children(of id: String) -> Set<String> { children[id] ?? [] }

  /// The targets that depend on a target, also through others.
  func descendants(of id: String) -> Set<String> {
    var found: Set<String> = []
    var open = [id]
    while let next = open.popLast() {
      for child in children(of: next) where found.insert(child).inserted { open.append(child) }
    }
    return found
  }

  /// The root of the outage that breaks an entry of a target: the last of ``chain(of:_:)``; nil when all entries are intact.
  func root(of id: String, _ state: (_ parent: String, _ isOwn: Bool) -> TargetDependency.ParentState) -> String? {
    chain(of: id, state).last
  }

  /// The path of failing targets from a target to the root of its outage: the first failing parent of the first broken entry, and so on.
  ///
  /// - Parameters:
  ///   - id: the target, which is not part of the path.
  ///   - state: the state of a parent, and whether it is one of the target itself.
  /// - Returns: the path, at most as long as the limit; empty when all entries are intact.
  func chain(of id: String, _ state: (_ parent: String, _ isOwn: Bool) -> TargetDependency.ParentState) -> [String] {
    var chain: [String] = []
    while chain.count < TargetSpec.Bounds.dependencyDepth,
      let next = entries[chain.last ?? id]?.breakingParent({ state($0, chain.isEmpty) })
    {
      chain.append(next)
    }
    return chain
  }
}
