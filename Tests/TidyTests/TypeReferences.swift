/// The references between the types of one module, by name.
///
/// A type refers to another one if its name occurs in the code of the type or of its extensions. Nested types are parts of
/// the types that contain them.
struct TypeReferences {
  private let references: [String: Set<String>]

  init(_ files: [SourceFile]) {
    let types = files.flatMap(StructureChecks.topLevelTypes)
    let names = Set(types.filter { $0.kind != "extension" }.map(\.name))
    references = types.reduce(into: [:]) { references, type in
      let name = String(type.name.prefix { $0 != "." })
      guard names.contains(name) else { return }
      let found = CodeText.words(type.code).map { String($0.word) }.filter { names.contains($0) && $0 != name }
      references[name, default: []].formUnion(found)
    }
  }

  /// The largest set of types of which each refers to each other one, directly or through others; empty for none.
  var largestCycle: [String] { cycles.max { $0.count < $1.count }?.sorted() ?? [] }

  /// The strongly connected components of more than one type (Tarjan's algorithm).
  private var cycles: [[String]] {
    var search = Search(references: references)
    for name in references.keys.sorted() where search.numbers[name] == nil { search.visit(name) }
    return search.components.filter { $0.count > 1 }
  }

  private struct Search {
    let references: [String: Set<String>]
    var numbers: [String: Int] = [:]
    var components: [[String]] = []
    private var lowest: [String: Int] = [:]
    private var path: [String] = []
    private var isOnPath: Set<String> = []

    init(references: [String: Set<String>]) { self.references = references }

    mutating func visit(_ name: String) {
      let number = numbers.count
      (numbers[name], lowest[name]) = (number, number)
      path.append(name)
      isOnPath.insert(name)
      for other in references[name] ?? [] {
        if numbers[other] == nil {
          visit(other)
          lower(name, to: lowest[other])
        } else if isOnPath.contains(other) {
          lower(name, to: numbers[other])
        }
      }
      guard lowest[name] == number, let start = path.lastIndex(of: name) else { return }
      components.append(Array(path[start...]))
      isOnPath.subtract(path[start...])
      path.removeSubrange(start...)
    }

    private mutating func lower(_ name: String, to number: Int?) {
      lowest[name] = min(lowest[name] ?? .max, number ?? .max)
    }
  }
}

/// The stored properties of classes and actors.
enum StoredProperties {
  /// The classes and actors of more than `limit` lines over all their files, with their stored properties.
  static func ofLargeClasses(_ files: [SourceFile], limit: Int) -> [(name: String, all: Int, hidden: Int)] {
    let lengths = StructureChecks.typeLengths(files)
    return files.flatMap { file in
      StructureChecks.topLevelTypes(file).compactMap { type in
        let name = "\(file.module).\(type.name)"
        guard ["class", "actor"].contains(type.kind), lengths[name, default: 0] > limit else { return nil }
        let properties = declarations(type.code)
        return (name, properties.count, properties.count { $0.hasPrefix("private ") || $0.hasPrefix("fileprivate ") })
      }
    }
  }

  /// The lines that declare stored properties of a type and not of a nested one.
  static func declarations(_ code: String) -> [Substring] {
    var depth = 0
    return code.split(separator: "\n").filter { line in
      defer { depth += line.count { $0 == "{" } - line.count { $0 == "}" } }
      return depth == 1 && isStored(line)
    }.map { $0.drop { $0 == " " } }
  }

  private static func isStored(_ line: Substring) -> Bool {
    let words = line.split(separator: " ")
    let modifiers: Set<Substring> = [
      "public", "package", "private", "fileprivate", "private(set)", "fileprivate(set)", "weak", "unowned",
      "nonisolated",
      "nonisolated(unsafe)", "unsafe", "final",
    ]
    guard let keyword = words.firstIndex(where: { !modifiers.contains($0) }), ["let", "var"].contains(words[keyword])
    else { return false }
    // A computed property has a body and no value; the observers of a stored one follow its value.
    guard let body = line.firstIndex(of: "{") else { return true }
    return words[keyword] == "let" || line[..<body].contains("=")
  }
}
