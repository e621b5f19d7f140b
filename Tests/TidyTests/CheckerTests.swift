import Testing

@Suite("Checks")
struct CheckerTests {
  func file(_ text: String, _ path: String = "Sources/Netlink/Sample.swift") -> SourceFile {
    SourceFile(path: path, text: text)
  }

  @Test("Comments and strings are blanked, interpolations and lines kept")
  func strip() {
    let text = ##"""
      let a = "print(\(b + "c\(d)") try!" // fatalError(
      /* one /* two */ still */ let e = #"raw " \(no) \#(yes)"#
      let f = """
        many "quotes" \(g)
        """
      let h = "\"" + "\\" + i
      """##
    let code = CodeText.strip(text)
    #expect(
      CodeText.words(code).map(\.word) == ["let", "a", "b", "d", "let", "e", "yes", "let", "f", "g", "let", "h", "i"])
    #expect(CodeText.words(code).last?.line == 6)
    #expect(code.utf8.count == text.utf8.count)
  }

  @Test(
    "Unterminated literals end the scan",
    arguments: [
      "\"", "\"\"\"", "#\"", "/*", "/* /*", "\"\\(", "\"\\", "//", "\"\\(\"", "",
    ])
  func unfinished(_ text: String) {
    #expect(CodeText.strip(text).utf8.count == text.utf8.count)
  }

  @Test(
    "Imports are found in every form",
    arguments: [
      "import Foundation", "public import Foundation", "@_exported public import Foundation",
      "  internal import Foundation",
      "import struct Foundation.Data", "@testable import Foundation", "import Foundation // why",
      "@preconcurrency import Foundation",
      "import Glibc; import Foundation",
    ])
  func imports(_ text: String) {
    let sample = file("let a = 1\n" + text + "\n")
    let found = Checks.imports(sample)
    #expect(found.contains { $0.line == 2 })
    if found.map(\.module) != ["Glibc"] { #expect(found.map(\.module) == ["Foundation"]) }
  }

  @Test("Imports without a declaration are found outside comments and strings, and so are unused dependencies")
  func undeclaredImports() {
    func found(_ text: String, _ path: String = "Sources/Netlink/A.swift") -> Int {
      Checks.undeclaredImports(file(text, path), ["Netlink": ["Locks"]], system: ["Glibc": ["Netlink"]]).count
    }
    #expect(found("import Glibc\nimport Locks\ninternal import StatusAPI\n") == 1)
    #expect(found("// import StatusAPI\nlet a = \"import StatusAPI\"\n") == 0)
    #expect(found("import Glibc\n", "Sources/Unknown/A.swift") == 1)
    #expect(found("import Glibc\nimport Locks\n", "Tests/UnknownTests/A.swift") == 1)
    #expect(Checks.banned(file("import XCTest\n"), ["XCTest"]).count == 1)
    #expect(Checks.banned(file("import XCTestDynamicOverlay\n"), ["XCTest"]).isEmpty)
    let files = [file("import B\n", "Sources/A/A.swift"), file("import C\n", "Sources/A/B.swift")]
    #expect(Checks.unusedDependencies(files, ["A": ["B", "C", "D"]]) == ["A does not import D"])
  }

  @Test("A file one line too long is found")
  func fileLength() {
    let lines = String(repeating: "let a = 1\n", count: 400)
    #expect(Checks.length(file(lines), limit: 400).isEmpty)
    #expect(Checks.length(file(lines + "let b = 2"), limit: 400).count == 1)
  }

  @Test(
    "A function one line too long is found",
    arguments: [
      "func a() {", "init(_ a: Int = .init(), b: () -> Void = {}) {", "deinit {", "subscript(a: Int) -> Int {",
      "static func a<B>(\n  _ b: B\n) throws -> C where B: D {", "func a() { let b = c.map { d in",
    ])
  func functionLength(_ head: String) {
    let isNested = head.hasSuffix("in")
    let extra = head.split(separator: "\n").count - 1
    func sample(_ lines: Int) -> SourceFile {
      let body = String(repeating: "  b()\n", count: lines - 2 - extra)
      return file("struct S {\n  var x: Int { 1 }\n  func none()\n\(head)\n\(body)\(isNested ? "} }" : "}")\n}\n")
    }
    #expect(Checks.functions(sample(60), limit: 60).isEmpty)
    #expect(Checks.functions(sample(61), limit: 60).count == 1)
  }

  @Test("Long types and properties are not functions")
  func notFunctions() {
    let body = String(repeating: "  let a = b.init()\n", count: 100)
    #expect(Checks.functions(file("struct S {\n\(body)}\n"), limit: 60).isEmpty)
    #expect(
      Checks.functions(file("protocol P {\n  func a()\n  var b: Int { get }\n}\nenum E {\n\(body)}\n"), limit: 60)
        .isEmpty)
  }

  @Test("The word unsafe is found as code only")
  func unsafe() {
    #expect(Checks.unsafe(file("let a = unsafe b()\n")).count == 1)
    #expect(Checks.unsafe(file("nonisolated(unsafe) var a = 1\n@unsafe func b() {}\n")).count == 2)
    #expect(Checks.unsafe(file("// unsafe\nlet unsafely = \"unsafe\"\nlet UnsafePointer = 1\n")).isEmpty)
  }

  @Test("Force operators, traps and prints are found in code only")
  func forbidden() {
    func found(_ text: String, mayPrint: Bool = false) -> Int {
      Checks.forbiddenCode(file(text), mayPrint: mayPrint).count
    }
    #expect(found("let a = try! b()") == 1)
    #expect(found("let a = b as! C") == 1)
    #expect(found("fatalError(\"no\")") == 1)
    #expect(found("print(1); debugPrint(2)") == 2)
    #expect(found("print(1)", mayPrint: true) == 0)
    #expect(found("let a = \"\\(try! b())\"") == 1, "in an interpolation, too")
    #expect(found("let a = try? b() as? C; a.print(1) // try! as! fatalError(") == 0)
    #expect(found("precondition(a); preconditionFailure()") == 0)
  }

  @Test("Sleeps are found in code only")
  func sleeps() {
    #expect(Checks.sleeps(file("usleep(1); sleep(2)\ntry await Task.sleep(for: .seconds(1))\n")).count == 3)
    #expect(Checks.sleeps(file("pause(.seconds(1), because: \"sleep(1)\") // usleep(1)\nsleep.end()\n")).isEmpty)
  }

  @Test("Notes are found in comments, too")
  func notes() {
    #expect(Checks.notes(file("// TO" + "DO: later\nlet a = 1 // FIX" + "ME\n")).count == 2)
    #expect(Checks.notes(file("// to do it\nlet autodoc = 1\n")).isEmpty)
  }

  @Test("Targets are read from a manifest, orphan files found")
  func targets() {
    let manifest = """
      func module(_ name: String) -> ReachabilityTarget { .target(name: name) }
      targets: [ module("A"), module("B", ["A"]), tests("ATests", ["A"]), .target(name: "C"), .systemLibrary(name: "D"),
        .executableTarget(
          name: "e", dependencies: ["A"]), module(
          "F", ["A"]) ]
      """
    let targets = Checks.targets(inManifest: manifest)
    #expect(targets == ["A", "B", "C", "D", "e", "F", "ATests"])
    #expect(Checks.orphan(file("", "Sources/A/A.swift"), targets).isEmpty)
    #expect(Checks.orphan(file("", "Sources/Z/A.swift"), targets).count == 1)
    #expect(Checks.orphan(file("", "Sources/A.swift"), targets).count == 1)
  }

  @Test("Transitive dependencies are read from a manifest")
  func closures() {
    let manifest = """
      let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
      let shared: [Target.Dependency] = ["A", deque]
      func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
        .target(name: name, dependencies: dependencies)
      }
      targets: [ module("A"), .systemLibrary(name: "CX", pkgConfig: "x", providers: [.apt(["x-dev"])]),
        module("B", ["A", "CX", deque]), module(
          "C",
          ["B"],
          resources: [.embedInCode("c")]), .systemLibrary(name: "CY"), tests("D", shared),
        .executableTarget(
          name: "e", dependencies: ["C"] + shared, path: "e") ]
      """
    let graph = Checks.dependencies(inManifest: manifest)
    #expect(
      graph == [
        "A": [], "B": ["A", "CX", "DequeModule"], "C": ["B"], "D": ["A", "DequeModule"],
        "e": ["A", "C", "DequeModule"],
      ])
    #expect(Checks.systemLibraries(inManifest: manifest) == ["CX", "CY"])
    #expect(Checks.closure(of: "C", graph) == ["A", "B", "C", "CX", "DequeModule"])
    #expect(Checks.closure(of: "A", graph) == ["A"])
  }

  @Test("A file without a declaration is found")
  func empty() {
    for text in ["", "\n\n", "// A\n", "/* struct A {} */", "import Glibc\n"] {
      #expect(Checks.empty(file(text)).count == 1, "\(text.debugDescription)")
    }
    #expect(Checks.empty(file("extension A {}\n")).isEmpty)
  }

  @Test("A module missing from the map is found")
  func map() {
    #expect(
      Checks.missing(["Netlink", "Locks"], inMap: "`Sources/CNetlink`, `Sources/Locks` — wrappers") == ["Netlink"])
  }
}
