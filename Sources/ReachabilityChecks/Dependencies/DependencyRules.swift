public import ReachabilityModel

/// Which entries of `dependsOn` are refused: pure functions of all targets.
public enum DependencyRules {
  /// Judges the entries of one target, whose ancestors and descendants are valid.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - dependsOn: its entries.
  ///   - entries: the entries of another target; nil for one that it cannot depend on.
  ///   - children: the targets that name a target.
  /// - Returns: the first fault; nil when there is none.
  package static func fault(
    of id: String, _ dependsOn: [TargetDependency], entries: (String) -> [TargetDependency]?,
    children: (String) -> Set<String>
  ) -> DependencyFault? {
    for parent in dependsOn.flatMap(\.parents) where parent != id && entries(parent) == nil {
      return .unknown(parent: parent)
    }
    func parents(_ target: String) -> [String] {
      (target == id ? dependsOn : entries(target) ?? []).flatMap(\.parents)
    }
    if let cycle = cycle(through: id, parents) { return .cycle(cycle) }
    let limit = TargetSpec.Bounds.dependencyDepth
    let depth = height(of: id, upTo: limit, parents) + height(of: id, upTo: limit) { Array(children($0)) } - 1
    return depth > limit ? .tooDeep(limit: limit) : nil
  }

  /// Judges all targets of a file.
  ///
  /// - Parameter targets: the targets; their ids are unique.
  /// - Returns: the faults by the id of the target: each cycle at one of its targets, a long chain at its last one.
  public static func faults(in targets: [TargetDefinition]) -> [String: DependencyFault] {
    let parents = Dictionary(targets.map { ($0.id, $0.dependsOn.flatMap(\.parents)) }) { first, _ in first }
    var children: [String: [String]] = [:]
    for (id, names) in parents { for name in names { children[name, default: []].append(id) } }
    var faults: [String: DependencyFault] = [:]
    for (id, names) in parents {
      if let name = names.first(where: { parents[$0] == nil }) { faults[id] = .unknown(parent: name) }
    }
    guard faults.isEmpty else { return faults }
    let (heights, rest) = heights(parents, children)
    // What hangs below a cycle is not in one.
    let below = Dictionary(rest.map { ($0, children[$0] ?? []) }) { first, _ in first }
    let inner = Self.heights(below, parents).rest
    var seen: Set<String> = []
    for target in targets where inner.contains(target.id) && !seen.contains(target.id) {
      guard let cycle = cycle(through: target.id, { parents[$0] ?? [] }) else { continue }
      seen.formUnion(cycle)
      faults[target.id] = .cycle(cycle)
    }
    let limit = TargetSpec.Bounds.dependencyDepth
    for (id, height) in heights where height > limit && children[id] == nil { faults[id] = .tooDeep(limit: limit) }
    return faults
  }

  /// Orders targets such that each follows those of them that it depends on, and otherwise as they are.
  ///
  /// - Parameter targets: the targets; their ids are unique.
  /// - Returns: their indices; those of a cycle are the last.
  static func order(of targets: [TargetDefinition]) -> [Int] {
    guard targets.contains(where: { !$0.dependsOn.isEmpty }) else { return Array(targets.indices) }
    let ids = Set(targets.map(\.id))
    let parents = Dictionary(
      targets.map { ($0.id, $0.dependsOn.flatMap(\.parents).filter { ids.contains($0) }) }
    ) { first, _ in first }
    var children: [String: [String]] = [:]
    for (id, names) in parents { for name in names { children[name, default: []].append(id) } }
    let heights = heights(parents, children).heights
    return targets.indices.sorted { left, right in
      (heights[targets[left].id] ?? .max, left) < (heights[targets[right].id] ?? .max, right)
    }
  }

  /// The number of targets on the longest chain up to each one, in topological order (Kahn), and those in or below cycles.
  private static func heights(
    _ parents: [String: [String]], _ children: [String: [String]]
  ) -> (heights: [String: Int], rest: Set<String>) {
    var missing = parents.mapValues { Set($0).count }
    var heights: [String: Int] = [:]
    var ready = missing.filter { $0.value == 0 }.map(\.key)
    for id in ready { heights[id] = 1 }
    while let id = ready.popLast() {
      for child in Set(children[id] ?? []) {
        heights[child] = max(heights[child] ?? 0, (heights[id] ?? 0) + 1)
        missing[child, default: 0] -= 1
        if missing[child] == 0 { ready.append(child) }
      }
    }
    return (heights, Set(missing.filter { $0.value > 0 }.keys))
  }

  /// A shortest cycle through a target, from it to itself; nil when there is none.
  private static func cycle(through id: String, _ next: (String) -> [String]) -> [String]? {
    var before: [String: String] = [:]
    var open = [id][...]
    while let target = open.popFirst() {
      for parent in next(target) where before[parent] == nil {
        before[parent] = target
        guard parent == id else {
          open.append(parent)
          continue
        }
        var path = [id]
        while let last = path.last, let previous = before[last] {
          path.append(previous)
          if previous == id { break }
        }
        return path.reversed()
      }
    }
    return nil
  }

  /// The number of targets on the longest path from one on, at most one more than a limit.
  private static func height(of id: String, upTo limit: Int, _ next: (String) -> [String]) -> Int {
    var level: Set<String> = [id]
    for height in 1...limit {
      level = level.reduce(into: []) { $0.formUnion(next($1)) }
      if level.isEmpty { return height }
    }
    return limit + 1
  }
}
