/// Rules about types and folders as functions from files to diagnostics.
enum StructureChecks {
  /// The lines of each type in one module: its declaration and all of its extensions, in whichever files they are.
  ///
  /// A nested type counts as a part of the declaration that contains it; `extension Outer.Inner` counts for `Outer.Inner`.
  static func typeLengths(_ files: [SourceFile]) -> [String: Int] {
    var lengths: [String: Int] = [:]
    for file in files {
      for type in topLevelTypes(file) where type.kind != "typealias" {
        lengths["\(file.module).\(type.name)", default: 0] += type.lines
      }
    }
    return lengths
  }

  /// A type that a file declares or extends at its top level, from the line with its name to the closing brace.
  struct TopLevelType {
    /// The keyword, such as `struct` or `extension`.
    var kind: Substring
    var name: String
    var lines: Int
    var code: String
  }

  /// The types that a file declares or extends at its top level.
  static func topLevelTypes(_ file: SourceFile) -> [TopLevelType] {
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "extension", "protocol", "typealias"]
    var found: [TopLevelType] = []
    var depth = 0
    var open: (kind: Substring, name: String, line: Int)?
    let lines = file.code.split(separator: "\n", omittingEmptySubsequences: false)
    func close(_ type: (kind: Substring, name: String, line: Int), at number: Int) {
      let code = lines[type.line...number].joined(separator: "\n")
      found.append(TopLevelType(kind: type.kind, name: type.name, lines: number - type.line + 1, code: code))
    }
    for (number, line) in lines.enumerated() {
      if depth == 0, open == nil {
        let words = line.split { $0 == " " || $0 == "{" || $0 == ":" || $0 == "<" || $0 == "?" }
        if let kind = words.firstIndex(where: { kinds.contains($0) }), kind + 1 < words.count {
          open = (words[kind], String(words[kind + 1]), number)
          if words[kind] == "typealias", let type = open {
            close(type, at: number)
            open = nil
          }
        }
      }
      for character in line {
        if character == "{" { depth += 1 }
        guard character == "}" else { continue }
        depth -= 1
        if depth == 0, let type = open {
          close(type, at: number)
          open = nil
        }
      }
    }
    return found
  }

  /// Types with the same name in several modules; extensions and nested types do not count.
  static func repeatedTypeNames(_ files: [SourceFile], except allowed: Set<String>) -> [String] {
    var modules: [String: Set<String>] = [:]
    for file in files {
      for line in file.code.split(separator: "\n") {
        guard let name = topLevelDeclaration(line), !allowed.contains(name) else { continue }
        modules[name, default: []].insert(file.module)
      }
    }
    return modules.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.sorted().joined(separator: ", "))" }
  }

  /// The name of the type that a line without indentation declares.
  private static func topLevelDeclaration(_ line: Substring) -> String? {
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    guard line.first != " " else { return nil }
    let words = line.split { $0 == " " || $0 == "{" || $0 == ":" || $0 == "<" }
    guard let kind = words.firstIndex(where: { kinds.contains($0) }), kind + 1 < words.count else { return nil }
    // `import struct Module.Name` declares nothing, and neither does `func` with a parameter named `class`.
    let others: Set<Substring> = ["import", "func", "extension"]
    return words[..<kind].contains(where: others.contains) ? nil : String(words[kind + 1])
  }

  /// Types that are too long.
  static func longTypes(_ files: [SourceFile], limit: Int) -> [String] {
    typeLengths(files).filter { $0.value > limit }.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value) lines over all files, at most \(limit)" }
  }

  /// Folders that contain too many files directly.
  static func largeFolders(_ files: [SourceFile], limit: Int) -> [String] {
    let folders = Dictionary(grouping: files) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
    return folders.filter { $0.value.count > limit }.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.count) files, at most \(limit)" }
  }

  /// Names of folders, modules included, that occur more than once: such a name does not say what belongs there.
  static func repeatedFolderNames(_ files: [SourceFile]) -> [String] {
    let folders = Set(files.map { $0.path.split(separator: "/").dropLast().joined(separator: "/") })
    let named = Dictionary(grouping: folders) { $0.split(separator: "/").last.map(String.init) ?? "" }
    return named.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.sorted().joined(separator: ", "))" }
  }

  /// The names of the folders inside modules that contain Swift files.
  static func foldersInModules(_ files: [SourceFile]) -> [String] {
    Set(files.map { $0.path.split(separator: "/").dropFirst(2).dropLast() }.filter { !$0.isEmpty })
      .compactMap { $0.last.map(String.init) }.sorted()
  }

  /// C modules that files of several folders of one module import.
  static func scatteredImports(_ files: [SourceFile], of libraries: Set<String>) -> [String] {
    var folders: [String: Set<String>] = [:]
    for file in files {
      let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
      for (module, _) in Checks.imports(file) where libraries.contains(module) {
        folders["\(file.module) imports \(module)", default: []].insert(folder)
      }
    }
    return folders.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
      .map { "\($0.key) in \($0.value.sorted().joined(separator: ", "))" }
  }

  /// Words of `denied` in a text, with their lines; inflections are listed in `denied`.
  static func words(_ text: String, path: String, denied: Set<String>) -> [String] {
    CodeText.words(text).flatMap { word, _, _, line in
      parts(of: word).filter { denied.contains($0) }.map { "\(path):\(line): \"\($0)\" in \(word)" }
    }
  }

  /// The words of an identifier, in lower case: `aLongName` is `a`, `long`, `name`.
  static func parts(of identifier: Substring) -> [String] {
    var parts: [String] = []
    var part = ""
    for character in identifier {
      if character == "_" || character.isUppercase, !part.isEmpty {
        parts.append(part)
        part = ""
      }
      if character != "_" { part += character.lowercased() }
    }
    return part.isEmpty ? parts : parts + [part]
  }
}
