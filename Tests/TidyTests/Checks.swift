/// The rules of the repository as functions from files to diagnostics.
enum Checks {
  // MARK: - Imports

  /// The modules that a file imports, with their lines.
  static func imports(_ file: SourceFile) -> [(module: String, line: Int)] {
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let lines = file.code.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().compactMap { number, line in
      let words = line.split { $0 == " " || $0 == "\t" || $0 == ";" }
      guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
      let rest = words[(place + 1)...].drop { kinds.contains($0) }
      return rest.first?.split(separator: ".").first.map { (String($0), number + 1) }
    }
  }

  /// Imports of modules that are neither dependencies of the file's target nor allowed to it as modules of the system.
  static func undeclaredImports(
    _ file: SourceFile, _ dependencies: [String: Set<String>], system: [String: Set<String>]
  ) -> [String] {
    imports(file).compactMap { module, line in
      let isSystem = file.isSource ? system[module]?.contains(file.module) == true : system[module] != nil
      return isSystem || dependencies[file.module]?.contains(module) == true
        ? nil : "\(file.path):\(line): \(file.module) must not import \(module)"
    }
  }

  /// Dependencies of targets that none of their files import.
  static func unusedDependencies(_ files: [SourceFile], _ dependencies: [String: Set<String>]) -> [String] {
    Dictionary(grouping: files, by: \.module).sorted { $0.key < $1.key }.flatMap { target, files in
      let imported = Set(files.flatMap { imports($0).map(\.module) })
      return (dependencies[target] ?? []).subtracting(imported).sorted().map { "\(target) does not import \($0)" }
    }
  }

  /// Imports of modules that no file may use.
  static func banned(_ file: SourceFile, _ modules: Set<String>) -> [String] {
    imports(file).compactMap { module, line in
      modules.contains(module) ? "\(file.path):\(line): \(module) is not used here" : nil
    }
  }

  // MARK: - Lengths

  static func length(_ file: SourceFile, limit: Int) -> [String] {
    file.lineCount > limit ? ["\(file.path): \(file.lineCount) lines, at most \(limit)"] : []
  }

  /// Functions that are too long, by the lines from the word `func` (or `init`, `deinit`, `subscript`) to its last brace.
  static func functions(_ file: SourceFile, limit: Int) -> [String] {
    var diagnostics: [String] = []
    var line = 1
    var open: [(line: Int, isFunction: Bool)] = []
    var pending: Int?
    var parentheses = 0
    var word = ""
    var beforeWord: Character = "\n"
    var previous: Character = "\n"
    for character in file.code + "\n" {
      if character.isLetter || character.isNumber || character == "_" {
        if word.isEmpty { beforeWord = previous }
        word.append(character)
      } else {
        // A member's call, `.init(…)`, begins nothing; a requirement without a body ends at the next keyword.
        if ["func", "init", "deinit", "subscript"].contains(word), beforeWord != "." { pending = line }
        if ["var", "let", "case", "struct", "enum", "class"].contains(word), parentheses == 0, beforeWord != "." {
          pending = nil
        }
        word = ""
      }
      switch character {
      case "\n", "\r\n": line += 1
      case "(", "[": parentheses += 1
      case ")", "]": parentheses = max(0, parentheses - 1)
      case "{":
        open.append((pending ?? line, pending != nil && parentheses == 0))
        if parentheses == 0 { pending = nil }
      case "}":
        if let last = open.popLast(), last.isFunction, line - last.line + 1 > limit {
          diagnostics.append("\(file.path):\(last.line): a function of \(line - last.line + 1) lines, at most \(limit)")
        }
      default: break
      }
      previous = character
    }
    return diagnostics
  }

  // MARK: - Words

  /// Uses of `unsafe`, as an expression, an attribute or in `nonisolated(unsafe)`.
  static func unsafe(_ file: SourceFile) -> [String] {
    CodeText.words(file.code).filter { $0.word == "unsafe" }.map { "\(file.path):\($0.line): unsafe" }
  }

  /// Calls and operators that production code must not contain.
  static func forbiddenCode(_ file: SourceFile, mayPrint: Bool) -> [String] {
    CodeText.words(file.code).compactMap { word, before, after, line in
      let isFound =
        switch word {
        case "try", "as": after == "!"
        case "fatalError": after == "("
        case "print", "debugPrint": !mayPrint && after == "(" && before != "." && before != "`"
        default: false
        }
      return isFound ? "\(file.path):\(line): \(word)\(after.map(String.init) ?? "")" : nil
    }
  }

  /// Calls that sleep without a reason.
  static func sleeps(_ file: SourceFile) -> [String] {
    let calls: Set<Substring> = ["sleep", "usleep", "nanosleep"]
    return CodeText.words(file.code).filter { calls.contains($0.word) && $0.after == "(" }
      .map { "\(file.path):\($0.line): \($0.word)" }
  }

  /// Notes of unfinished work, also in comments.
  static func notes(_ file: SourceFile) -> [String] {
    // Split, so that this file is not found itself.
    let marks: Set<Substring> = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
    return CodeText.words(file.text).filter { marks.contains($0.word) }.map { "\(file.path):\($0.line): \($0.word)" }
  }

  // MARK: - Files and targets

  /// The targets that a manifest declares.
  static func targets(inManifest manifest: String) -> Set<String> {
    var names: Set<String> = []
    for opening in ["module(", "tests(", "arget(", "systemLibrary("] {
      for part in manifest.split(separator: opening, omittingEmptySubsequences: false).dropFirst() {
        // The first literal after the parenthesis, with or without its label.
        let head = part.drop { $0.isWhitespace }
        let literal = head.hasPrefix("name:") ? head.dropFirst(5).drop { $0.isWhitespace } : head
        guard literal.first == "\"" else { continue }
        names.insert(String(literal.dropFirst().prefix { $0 != "\"" }))
      }
    }
    return names
  }

  /// The C libraries that a manifest declares as system libraries.
  static func systemLibraries(inManifest manifest: String) -> Set<String> {
    Set(
      manifest.split(separator: ".systemLibrary(", omittingEmptySubsequences: false).dropFirst().compactMap { part in
        let literals = part.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        return literals.count > 1 ? String(literals[1]) : nil
      })
  }

  /// The dependencies of each target with Swift files in a manifest: the modules that its files may import.
  static func dependencies(inManifest manifest: String) -> [String: Set<String>] {
    var constants: [Substring: Set<String>] = [:]
    // The modules in an array: literals, and constants of single products or of arrays.
    func modules(_ array: Substring) -> Set<String> {
      array.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .reduce(into: []) { found, part in
          guard part.offset.isMultiple(of: 2) else { return _ = found.insert(String(part.element)) }
          for (word, _, _, _) in CodeText.words(String(part.element)) { found.formUnion(constants[word] ?? []) }
        }
    }
    for constant in manifest.matches(of: /let (\w+): \[?Target\.Dependency\]? =([^\]\)]*)/) {
      let isArray = constant.output.2.contains("[")
      let product = constant.output.2.split(separator: "\"").dropFirst().first.map { Set([String($0)]) }
      constants[constant.output.1] = isArray ? modules(constant.output.2) : product
    }
    let call =
      /\b(?:module\(|tests\(|executableTarget\(\s*name:|target\(\s*name:)\s*"([\w-]+)"([^\])]*(?:\]\s*\+\s*\w+)?)/
    return manifest.matches(of: call).reduce(into: [:]) { $0[String($1.output.1)] = modules($1.output.2) }
  }

  /// A module and all of its transitive dependencies.
  static func closure(of module: String, _ graph: [String: Set<String>]) -> Set<String> {
    var closure: Set<String> = []
    var waiting = [module]
    while let next = waiting.popLast() {
      if closure.insert(next).inserted { waiting += graph[next] ?? [] }
    }
    return closure
  }

  /// Files that no target compiles.
  static func orphan(_ file: SourceFile, _ targets: Set<String>) -> [String] {
    targets.contains(file.module) ? [] : ["\(file.path): belongs to no target"]
  }

  /// Files that declare nothing.
  static func empty(_ file: SourceFile) -> [String] {
    let declarations: Set<Substring> = [
      "struct", "class", "enum", "actor", "protocol", "extension", "func", "let", "var", "typealias", "import",
    ]
    let found = CodeText.words(file.code).contains { declarations.contains($0.word) && $0.word != "import" }
    return found ? [] : ["\(file.path): declares nothing"]
  }

  /// Modules that the code map does not name.
  static func missing(_ modules: [String], inMap map: String) -> [String] {
    modules.filter { module in
      // Between back-ticks, so that Netlink is not found in CNetlink or NetlinkTests.
      !map.contains("`Sources/\(module)`")
    }
  }
}
