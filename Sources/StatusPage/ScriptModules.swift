/// Joins modules into one script, which does what a browser does that loads them one by one (ADR 72).
///
/// Each module is a function that is called once, after the modules that it imports. An import is one line,
/// `import { a, b } from "./file.js";`, an export a declaration of a class, a function or a constant. Lines that are comments
/// are left out (ADR 81). The tests of the page check that no module has another form.
struct ScriptModules {
  private let modules: [String: String]

  /// Takes modules by their paths.
  init(_ modules: [String: String]) { self.modules = modules }

  /// The script of a module and of everything that it imports.
  func script(_ path: String) -> String {
    var numbers: [String: Int] = [:]
    var parts: [String] = []
    _ = add(path, &numbers, &parts)
    return parts.joined(separator: "\n")
  }

  /// Adds a module after its imports, and returns its number; modules that import each other are not supported.
  private func add(_ path: String, _ numbers: inout [String: Int], _ parts: inout [String]) -> Int {
    if let number = numbers[path] { return number }
    var lines: [Substring] = []
    var exports: [Substring] = []
    for line in Self.withoutComments(modules[path] ?? "") {
      if let (names, imported) = Self.importation(line, in: path) {
        lines.append("const \(names) = module\(add(imported, &numbers, &parts));")
      } else if let (name, declaration) = Self.exportation(line) {
        exports.append(name)
        lines.append(declaration)
      } else {
        lines.append(line)
      }
    }
    let number = parts.count
    numbers[path] = number
    let body = lines.joined(separator: "\n")
    parts.append(
      "// \(path)\nconst module\(number) = (() => {\n\(body)return { \(exports.joined(separator: ", ")) };\n})();")
    return number
  }

  /// The lines of a module that are not part of a comment: `// …`, or `/* … */` in one or several lines of its own.
  private static func withoutComments(_ module: String) -> [Substring] {
    var isInside = false
    return module.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      let text = line.utf8.drop { $0 == UInt8(ascii: " ") }
      let begins = text.starts(with: "/*".utf8)
      guard isInside || begins || text.starts(with: "//".utf8) else { return true }
      if isInside || begins { isInside = !line.utf8.suffix(2).elementsEqual("*/".utf8) }
      return false
    }
  }

  /// The names, in braces, and the module of a line that imports.
  private static func importation(_ line: Substring, in path: String) -> (names: Substring, module: String)? {
    guard line.hasPrefix("import "), let end = line.firstRange(of: " from \""), line.hasSuffix("\";") else {
      return nil
    }
    let names = line[..<end.lowerBound].dropFirst("import ".count)
    var folders = path.split(separator: "/").dropLast()
    for part in line[end.upperBound...].dropLast(2).split(separator: "/") {
      switch part {
      case ".": break
      case "..": _ = folders.popLast()
      default: folders.append(part)
      }
    }
    return (names, folders.joined(separator: "/"))
  }

  private static func exportation(_ line: Substring) -> (name: Substring, declaration: Substring)? {
    guard line.hasPrefix("export ") else { return nil }
    let declaration = line.dropFirst("export ".count)
    let keywords: Set<Substring> = ["async", "class", "const", "function", "function*"]
    let words = declaration.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" || $0 == "*") }
    return words.first { !keywords.contains($0) }.map { ($0, declaration) }
  }
}
