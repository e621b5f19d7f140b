public import JSONFormat

/// The lines of targets, each below the first listed one that it depends on.
public struct TargetTree {
  private var ids: [String] = []
  private var texts: [String: String] = [:]
  private var parents: [String: [String]] = [:]

  /// A tree without targets.
  public init() {}

  /// Adds a target.
  ///
  /// - Parameters:
  ///   - document: its document of `GET /targets`.
  ///   - text: its line.
  public mutating func add(_ document: JSON, _ text: String) {
    guard let id = document["id"]?.string, texts.updateValue(text, forKey: id) == nil else { return }
    ids.append(id)
    parents[id] = (document["dependsOn"]?.elements ?? []).flatMap { entry in
      entry["anyOf"]?.elements?.compactMap(\.string) ?? [entry.string].compactMap(\.self)
    }
  }

  /// The lines, from the top: two spaces for each level, and the text.
  public var lines: [(indent: String, text: String)] {
    // A service that is not trusted may send cycles: their targets are listed at the end, and no path is followed twice.
    let children = Dictionary(grouping: ids) { id in parents[id]?.first { $0 != id && texts[$0] != nil } }
    var lines: [(indent: String, text: String)] = []
    var seen: Set<String> = []
    var open = (children[nil] ?? []).reversed().map { (id: $0, level: 0) }
    for rest in [[], ids] {
      open += rest.reversed().map { (id: $0, level: 0) }
      while let (id, level) = open.popLast() {
        guard seen.insert(id).inserted, let text = texts[id] else { continue }
        lines.append((String(repeating: "  ", count: level), text))
        open += (children[id] ?? []).reversed().map { (id: $0, level: level + 1) }
      }
    }
    return lines
  }
}
