import Testing

@Suite("Repository rules")
struct TidyTests {
  /// The modules of the toolchain, and the modules of this package that may import them; tests may import all of them.
  static let systemModules: [String: Set<String>] = [
    "Glibc": [
      "Database", "EmbeddedHTTPServer", "EventLoop", "EventStreams", "HostProcess", "HostResolver", "Locks",
      "NATSClient", "Netlink", "NetworkReachability", "Probers", "reachd", "reachd-fleet",
    ],
    "Synchronization": [
      "Database", "EmbeddedHTTPServer", "EventLoop", "EventStreams", "HTTPRouting", "History", "Locks", "Netlink",
      "Probers", "Service",
    ],
    "Dispatch": [
      "FleetAPI", "HTTPRouting", "History", "JetStream", "NATSClient", "NetworkReachability", "ReachabilityChecks",
      "StatusClient",
      "ReachabilityCompatibility", "Service", "reachd", "reachd-fleet",
    ],
    // Foundation doubles the size of a program, and is needed for the API of the original libraries only.
    "Foundation": ["ReachabilityCompatibility"],
    "Testing": [],
  ]

  /// The programs, which may import every module that is not for tests.
  static let executables: Set<String> = ["reachd", "reachd-fleet"]

  /// The modules that wrap a C interface, and the one with the lock.
  static let unsafeModules: Set<String> = [
    "Locks", "EventLoop", "Netlink", "HostResolver", "Probers", "EventStreams", "EmbeddedHTTPServer", "YAMLTree",
    "JSONFormat",
    "HostProcess", "Credentials", "Database", "Compression", "StatusPage", "Contract", "NATSClient",
    "StatusClient",
  ]

  let tree: SourceTree
  var sources: [SourceFile] { tree.files.filter(\.isSource) }

  /// Read once: every test looks at the same files.
  private static let read = Result { try SourceTree() }

  init() throws { tree = try Self.read.get() }

  @Test("Targets import their direct dependencies only, and all of them")
  func imports() throws {
    let dependencies = Checks.dependencies(inManifest: try #require(tree.read("Package.swift")))
    #expect(dependencies["Service"]?.contains("StatusAPI") == true, "the dependencies are found")
    #expect(tree.files.flatMap { Checks.undeclaredImports($0, dependencies, system: Self.systemModules) } == [])
    // Tests build the programs that they start, but do not import them.
    #expect(Checks.unusedDependencies(tree.files, dependencies.mapValues { $0.subtracting(Self.executables) }) == [])
  }

  @Test("The executable imports no test module")
  func executable() {
    let top = sources.filter { Self.executables.contains($0.module) }
    #expect(!top.isEmpty)
    #expect(top.flatMap { Checks.banned($0, ["NetworkReachabilityTesting", "TestSupport"]) }.isEmpty)
  }

  @Test("Agents of a fleet do not use streams")
  func agents() {
    let agents = sources.filter { $0.module == "reachd-fleet" && $0.path.contains("/FleetAgent") }
    #expect(agents.count > 4 && agents.flatMap { Checks.banned($0, ["JetStream"]) }.isEmpty)
    let messenger = sources.filter { $0.path.contains("/NATSMessenger") }
    #expect(!messenger.isEmpty && messenger.flatMap { Checks.banned($0, ["JetStream"]) }.isEmpty)
  }

  @Test("Files keep their length limits")
  func fileLengths() {
    #expect(sources.flatMap { Checks.length($0, limit: 400) }.isEmpty)
    let long = sources.flatMap { Checks.length($0, limit: 200) }
    #expect(long.count <= 6, "\(long)")
    #expect(tree.files.filter { !$0.isSource }.flatMap { Checks.length($0, limit: 300) }.isEmpty)
  }

  @Test("No function is longer than 60 lines")
  func functionLengths() {
    #expect(sources.flatMap { Checks.functions($0, limit: 60) }.isEmpty)
  }

  @Test("unsafe appears only in modules that wrap C")
  func unsafe() {
    let diagnostics = sources.filter { !Self.unsafeModules.contains($0.module) }.flatMap(Checks.unsafe)
    #expect(diagnostics.isEmpty)
    #expect(sources.contains { !Checks.unsafe($0).isEmpty }, "the check finds the modules that use it")
  }

  @Test("Sources contain no traps, forced casts or prints")
  func forbiddenCode() {
    #expect(sources.flatMap { Checks.forbiddenCode($0, mayPrint: Self.executables.contains($0.module)) }.isEmpty)
  }

  @Test("No note is left behind")
  func notes() {
    #expect(tree.files.flatMap(Checks.notes).isEmpty)
  }

  @Test("Tests sleep only with a reason, in few places")
  func sleeps() {
    let tests = tree.files.filter { !$0.isSource && $0.module != "TestSupport" }
    #expect(tests.flatMap(Checks.sleeps) == [])
    let reasons = tests.filter { $0.module != "TidyTests" }.flatMap { file in
      CodeText.words(file.code).filter { $0.word == "because" && $0.after == ":" }
    }
    #expect(reasons.count <= 43, "write a smaller number when there are fewer")
  }

  @Test("Every file belongs to a target, and every target has files")
  func targets() throws {
    let targets = Checks.targets(inManifest: try #require(tree.read("Package.swift")))
    #expect(tree.files.flatMap { Checks.orphan($0, targets) }.isEmpty)
    let folders = Set(tree.modules("Sources") + tree.modules("Tests") + tree.modules("Benchmarks"))
    #expect(targets.subtracting(folders).isEmpty)
    #expect(Set(tree.modules("Sources")).subtracting(targets).isEmpty)
  }

  @Test(
    "Watching needs only the C library c-ares",
    arguments: ["NetworkReachability", "ReachabilityCompatibility", "NetworkReachabilityTesting"])
  func librariesOfProducts(_ product: String) throws {
    let manifest = try #require(tree.read("Package.swift"))
    let libraries = Checks.systemLibraries(inManifest: manifest)
    let graph = Checks.dependencies(inManifest: manifest)
    #expect(Checks.closure(of: product, graph).intersection(libraries) == ["CAres"])
    let checks = Checks.closure(of: "ReachabilityChecks", graph).intersection(libraries)
    #expect(checks.isSuperset(of: ["CAres", "CCurl", "CGnuTLS", "CPCRE2"]), "the check finds libraries")
  }

  @Test("No file is empty")
  func empty() {
    #expect(tree.files.flatMap(Checks.empty).isEmpty)
  }

  @Test("Every module and every folder is in ARCHITECTURE.md")
  func map() throws {
    let map = try #require(tree.read("docs/ARCHITECTURE.md"))
    #expect(Checks.missing(tree.modules("Sources"), inMap: map).isEmpty)
    let parts = StructureChecks.foldersInModules(sources)
    #expect(parts.count > 20, "the folders are found")
    #expect(parts.filter { !map.contains("`\($0)/`") } == [])
  }
}
