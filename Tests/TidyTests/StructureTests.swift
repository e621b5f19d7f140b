import Testing

@Suite("Types, folders and words stay within their limits")
struct StructureTests {
  private let tree: SourceTree
  private var sources: [SourceFile] { tree.files.filter(\.isSource) }

  private static let read = Result { try SourceTree() }

  init() throws { tree = try Self.read.get() }

  @Test("No type is longer than 500 lines over all its files")
  func typeLengths() {
    #expect(StructureChecks.longTypes(sources, limit: 500).isEmpty)
    #expect(StructureChecks.typeLengths(sources).count > 300, "the check finds the types")
  }

  @Test("No folder contains more than 30 files")
  func folders() {
    #expect(StructureChecks.largeFolders(tree.files, limit: 30).isEmpty)
    #expect(StructureChecks.largeFolders(tree.scripts, limit: 30).isEmpty)
    #expect(tree.scripts.count > 20, "the scripts are found")
  }

  @Test("No two folders of Sources have the same name")
  func folderNames() {
    #expect(StructureChecks.repeatedFolderNames(sources).isEmpty)
  }

  /// The names that several modules use for the same purpose: the limits of a module, and the start of a program.
  private static let sharedNames: Set<String> = ["Limits", "EntryPoint"]

  @Test("No two modules have a type of the same name")
  func typeNames() {
    #expect(StructureChecks.repeatedTypeNames(sources, except: Self.sharedNames).isEmpty)
    #expect(StructureChecks.repeatedTypeNames(sources, except: []).count == 2, "the check finds the types")
  }

  @Test("Each module imports a C library in one folder only")
  func imports() throws {
    let manifest = try #require(tree.read("Package.swift"))
    // The headers of these two also declare the socket types of the C library, which every prober needs.
    let libraries = Checks.systemLibraries(inManifest: manifest).union(["CNetlink", "CEventLoop"])
      .subtracting(["CSockets", "CAres"])
    #expect(StructureChecks.scatteredImports(sources, of: libraries).isEmpty)
  }

  @Test("The image's build context has the directories of all targets")
  func buildContext() throws {
    let manifest = try #require(tree.read("Package.swift"))
    let ignored = try #require(tree.read(".dockerignore")).split(separator: "\n").map(String.init)
    #expect(ignored.contains("Benchmarks/*"), "the paths below are excluded unless a line includes them")
    let paths = Set(manifest.matches(of: /path: "(Benchmarks\/\w+)"/).map { String($0.output.1) })
    #expect(!paths.isEmpty)
    #expect(paths.filter { !ignored.contains("!\($0)") } == [])
  }

  /// Words that personify the software or its clients, or that have a standard term (in parentheses).
  private static let denied: Set<String> = [
    "stranger", "strangers",  // unauthenticated client, unmatched response
    "newcomer", "newcomers",  // new connection, new subscriber
    "crowd", "crowds",  // connections of one address
    "whoever", "somebody", "nobody", "everybody",  // the client, any client, no client
    "farewell", "farewells",  // close event
    "anew", "afresh",  // again
    "mend", "mends", "mended",  // fix
    "rung", "rungs",  // step
    "knock", "knocks", "knocking",  // connect-only check
  ]

  @Test(
    "Sources, tests and documents use standard terms", arguments: [("Sources", 10), ("Tests", 4), ("documents", 5)])
  func words(_ part: String, limit: Int) throws {
    let documents = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "openapi.yaml"] + tree.documents
    let texts =
      switch part {
      case "Sources": sources.map { ($0.path, $0.text) }
      // This file contains the words.
      case "Tests":
        tree.files.filter { !$0.isSource && !$0.path.hasSuffix("StructureTests.swift") }.map { ($0.path, $0.text) }
      default: try documents.map { ($0, try #require(tree.read($0))) }
      }
    let found = texts.flatMap { StructureChecks.words($0.1, path: $0.0, denied: Self.denied) }
    #expect(found.count <= limit, "\(found.joined(separator: "\n"))")
  }
}

@Suite("The structure checks find violations")
struct StructureCheckTests {
  private func file(_ text: String, _ path: String = "Sources/A/Sample.swift") -> SourceFile {
    SourceFile(path: path, text: text)
  }

  @Test("A type's lines are those of its declaration and its extensions in all files")
  func typeLengths() {
    let first = file("struct A {\n  struct B {\n  }\n}\nextension A.B {\n}\n")
    let second = file("public extension A: C where D: E {\n  func f() { g() }\n}\nlet a = 1\n", "Sources/A/More.swift")
    #expect(StructureChecks.typeLengths([first, second]) == ["A.A": 7, "A.A.B": 2])
    #expect(StructureChecks.longTypes([first, second], limit: 6) == ["A.A: 7 lines over all files, at most 6"])
  }

  @Test("A folder counts its own files")
  func folders() {
    let files = [file("", "Sources/A/B.swift"), file("", "Sources/A/C.swift"), file("", "Sources/A/D/E.swift")]
    #expect(StructureChecks.largeFolders(files, limit: 1) == ["Sources/A: 2 files, at most 1"])
  }

  @Test("A folder name that occurs twice is found")
  func folderNames() {
    let files = [file("", "Sources/A/B/C.swift"), file("", "Sources/D/B/E.swift"), file("", "Sources/D/B/F.swift")]
    #expect(StructureChecks.repeatedFolderNames(files) == ["B: Sources/A/B, Sources/D/B"])
  }

  @Test("A type name that occurs in two modules is found")
  func typeNames() {
    let files = [
      file("public struct C: D {\n  enum E {}\n}\nimport struct F.G\n"), file("extension C {}\n", "Sources/B/X.swift"),
      file("final class C<T> {\n}\nenum E {}\n", "Sources/D/C.swift"), file("enum L {}\nstruct G {}\n"),
      file("enum L {}\n", "Sources/D/L.swift"),
    ]
    #expect(StructureChecks.repeatedTypeNames(files, except: ["L"]) == ["C: A, D"])
  }

  @Test("A C library in two folders of a module is found")
  func imports() {
    let files = [
      file("internal import CX\n"), file("import CX\n", "Sources/A/B/C.swift"),
      file("import CX\n", "Sources/D/E.swift"),
    ]
    #expect(StructureChecks.scatteredImports(files, of: ["CX"]) == ["A imports CX in Sources/A, Sources/A/B"])
  }

  @Test("Denied words are found in identifiers, comments and messages, and not inside other words")
  func words() {
    let text = "// A Stranger\nlet crowdSize = \"nobody\"\nlet crowded = recommends\n"
    let found = StructureChecks.words(text, path: "x", denied: ["stranger", "crowd", "nobody", "mends"])
    #expect(found == ["x:1: \"stranger\" in Stranger", "x:2: \"crowd\" in crowdSize", "x:2: \"nobody\" in nobody"])
  }
}
