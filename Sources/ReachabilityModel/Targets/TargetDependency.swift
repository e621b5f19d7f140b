/// One entry of a target's `dependsOn`: the parents of which one must work.
///
/// Several of them are alternative paths: `{ anyOf: [isp-a, isp-b] }`. As the `parents` of Nagios and the dependencies of Icinga 2, an
/// entry decides only whether a failure of the target is its own.
public struct TargetDependency: Hashable, Sendable {
  /// The ids of the parents; never empty, without repetition.
  public var parents: [String]

  /// An entry of alternative parents.
  public init(anyOf parents: [String]) { self.parents = parents }

  /// An entry of one parent.
  public init(_ parent: String) { parents = [parent] }
}

extension TargetDependency {
  /// The state of a parent, as its children see it.
  public enum ParentState: Hashable, Sendable {
    /// Its last result was good, or it has none.
    case working
    /// Its route is missing, or its last result was bad.
    case failing
    /// It is paused, or not registered: it decides nothing.
    case ignored
  }

  /// The parent that breaks the entry: the first one, when all that count are failing; nil while the entry is intact.
  ///
  /// - Parameter state: the state of a parent.
  /// - Returns: its id.
  func breakingParent(_ state: (String) -> ParentState) -> String? {
    var first: String?
    for parent in parents {
      switch state(parent) {
      case .working: return nil
      case .failing: first = first ?? parent
      case .ignored: continue
      }
    }
    return first
  }
}

extension [TargetDependency] {
  /// The entries without a parent, each once.
  package func removing(_ parent: String) -> Self {
    var seen: Set<[String]> = []
    return compactMap { entry in
      let parents = entry.parents.filter { $0 != parent }
      return parents.isEmpty || !seen.insert(parents.sorted()).inserted ? nil : TargetDependency(anyOf: parents)
    }
  }
}

extension Sequence<TargetDependency> {
  /// The first failing parent of the first broken entry; nil when all entries are intact.
  ///
  /// - Parameter state: the state of a parent.
  /// - Returns: its id.
  package func breakingParent(_ state: (String) -> TargetDependency.ParentState) -> String? {
    for entry in self { if let parent = entry.breakingParent(state) { return parent } }
    return nil
  }
}
