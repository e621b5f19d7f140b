/// The links to symbols in documentation comments and articles: a type, its members after slashes, or a member alone.
struct SymbolLinks {
  private let modules: [String: Set<String>]
  /// The names that each type at the top level declares, with its extensions and nested types.
  private let members: [String: Set<String>]

  /// Reads the declarations of all modules.
  init(_ files: [SourceFile]) {
    modules = files.reduce(into: [:]) { $0[$1.module, default: []].formUnion(Self.declarations(in: $1.code)) }
    members = files.flatMap(StructureChecks.topLevelTypes).reduce(into: [:]) { members, type in
      let names = type.name.split(separator: ".").map(String.init)
      members[names[0], default: []].formUnion(Self.declarations(in: type.code).union(names.dropFirst()))
    }
  }

  /// The links of a text that name no declaration, with their lines.
  ///
  /// A link begins with a module, with a type, or with a symbol of the same module.
  func stale(in text: String, path: String, module: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { number, line in
      line.matches(of: /``([^`\s]+)``/).map { String($0.output.1) }.filter { !resolves($0, in: module) }
        .map { "\(path):\(number + 1): \($0)" }
    }
  }

  private func resolves(_ link: String, in module: String) -> Bool {
    // Without parameters and without the hash of an overload.
    var names = link.split(separator: "/").map { String($0.prefix { $0 != "(" && $0 != "-" }) }
    if let first = names.first, modules[first] != nil { names.removeFirst() }
    guard let first = names.first else { return true }
    let local = modules[module] ?? []
    if let type = members[first], type.isSuperset(of: names.dropFirst()) { return true }
    return local.isSuperset(of: names)
  }

  /// The names that code declares: those after a keyword, and the others in the lines of cases and of several variables.
  static func declarations(in code: String) -> Set<String> {
    let keywords: Set<Substring> = [
      "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype", "func", "var", "let", "case",
    ]
    var names: Set<String> = []
    var previous: Substring = ""
    var list: (keyword: Substring, line: Int)?
    for (word, _, after, line) in CodeText.words(code) {
      let isInList = list.map { $0.line == line && ($0.keyword == "case" || after == ":") } ?? false
      if isInList || keywords.contains(previous) || ["init", "subscript"].contains(word) { names.insert(String(word)) }
      if ["var", "let", "case"].contains(word) { list = (word, line) }
      previous = word
    }
    return names
  }
}
