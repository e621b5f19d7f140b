import Testing

@Suite("Types are coupled loosely, and classes hide their state")
struct CouplingTests {
  private let sources: [SourceFile]

  private static let read = Result { try SourceTree().files.filter(\.isSource) }

  init() throws { sources = try Self.read.get() }

  /// The number of types in the largest cycle of references of each module, where it exceeds ``cycleLimit``.
  ///
  /// A number may only become smaller; a module that is not listed keeps the limit.
  private static let largestCycles = [
    "Probers": 16, "Service": 9,
  ]
  private static let cycleLimit = 5

  @Test("No cycle of references among the types of a module becomes larger")
  func cycles() {
    let modules = Dictionary(grouping: sources, by: \.module)
    #expect(modules.count > 30, "the modules are found")
    for (module, files) in modules.sorted(by: { $0.key < $1.key }) {
      let cycle = TypeReferences(files).largestCycle
      if let today = Self.largestCycles[module] {
        #expect(cycle.count == today, "\(module): write the smaller number, or undo the larger cycle: \(cycle)")
      } else {
        #expect(cycle.count <= Self.cycleLimit, "\(module): \(cycle)")
      }
    }
  }

  /// The private stored properties of large classes that have fewer than half of them; a number may only become larger.
  private static let exposedClasses = [
    "FleetAPI.FleetService": 1, "History.WriterThread": 5,
  ]

  @Test("Classes of more than 200 lines keep half of their stored properties private")
  func privacy() {
    let classes = StoredProperties.ofLargeClasses(sources, limit: 200)
    #expect(classes.count > 10, "the classes are found")
    for type in classes {
      if let today = Self.exposedClasses[type.name] {
        #expect(type.hidden >= today, "\(type)")
        #expect(type.hidden * 2 < type.all, "\(type) needs no entry any more")
      } else {
        #expect(type.hidden * 2 >= type.all, "\(type)")
      }
    }
  }
}

@Suite("The coupling checks find violations")
struct CouplingCheckTests {
  private func file(_ text: String) -> SourceFile { SourceFile(path: "Sources/A/Sample.swift", text: text) }

  @Test("A cycle has the types that refer to each other, through extensions, other types and aliases")
  func cycles() {
    let files = [
      file("struct A {\n  var b: B\n  // F\n}\nstruct B {}\nextension B.Inner {\n  var c: C { D() }\n}\n"),
      file(
        "typealias C = Array<A>\nenum D {\n  case d(E)\n}\nfinal class E {\n  var d: D?\n}\nstruct F {\n  var a: A\n}"),
    ]
    #expect(TypeReferences(files).largestCycle == ["A", "B", "C"])
    #expect(TypeReferences([file("struct A {\n  var a: [A]\n}\nstruct B {\n  var a: A\n}\n")]).largestCycle == [])
  }

  @Test("Stored properties are those of the class itself that have no body")
  func properties() {
    let text = """
      final class A {
        private let a: Int
        private(set) var b = 0
        let c: @Sendable () -> Void
        var d: Int { a }
        static let e = 0
        var f = 0 {
          didSet { g() }
        }
        struct B {
          var h = 0
        }
        func g() {
          let i = 0
        }
      }
      """
    let found = StoredProperties.declarations(text)
    #expect(found == ["private let a: Int", "private(set) var b = 0", "let c: @Sendable () -> Void", "var f = 0 {"])
    #expect(StoredProperties.ofLargeClasses([file(text)], limit: 10).map(\.hidden) == [1])
    #expect(StoredProperties.ofLargeClasses([file(text)], limit: 100).isEmpty)
  }
}
