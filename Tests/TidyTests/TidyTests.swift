import Testing

@Suite("Repository rules")
struct TidyTests {
  /// The modules that each module may import: the diagram of docs/ARCHITECTURE.md.
  static let allowedImports: [String: Set<String>] = [
    "ReachabilityModel": [],
    "Locks": ["Synchronization", "Glibc"],
    "TextSyntax": [],
    "EventLoop": ["Locks", "CEventLoop", "DequeModule", "HeapModule", "Glibc", "Synchronization"],
    "Netlink": ["ReachabilityModel", "EventLoop", "Locks", "CNetlink", "Glibc", "Logging", "Synchronization"],
    "HostResolver": ["ReachabilityModel", "EventLoop", "Locks", "CAres", "DequeModule", "Glibc"],
    "Probers": [
      "HostResolver", "EventLoop", "ReachabilityModel", "Locks", "TextSyntax", "DequeModule", "CAres", "CCurl",
      "CPCRE2",
      "CGnuTLS", "CSockets", "Glibc", "Logging",
      "Synchronization",
    ],
    "EventStreams": ["DequeModule", "EventLoop", "Locks", "Glibc", "Synchronization"],
    "EmbeddedHTTPServer": [
      "EventStreams", "DequeModule", "EventLoop", "Locks", "TextSyntax", "CMicroHTTPD", "CGnuTLS", "Glibc", "Logging",
      "Synchronization",
    ],
    "YAMLTree": ["CYAML", "Glibc"],
    "Compression": ["CZlib"],
    "StatusPage": ["CPage"],
    "Contract": ["CContract"],
    "JSONFormat": ["CJansson"],
    "HostProcess": ["CProcess", "CBuildInfo", "Glibc"],
    "Credentials": ["TextSyntax", "CGnuTLS"],
    "NATSClient": ["CNATS", "Locks", "Dispatch", "Glibc"],
    "JetStream": ["NATSClient", "JSONFormat", "Locks", "Dispatch"],
    "Database": ["CSQLite", "EventLoop", "Glibc", "Synchronization"],
    "History": [
      "Database", "EventLoop", "HostProcess", "ReachabilityModel", "Locks", "DequeModule", "Dispatch", "Logging",
      "Synchronization",
    ],
    "NetworkReachability": [
      "ReachabilityModel", "Locks", "Netlink", "HostResolver", "Logging", "DequeModule", "Dispatch", "Glibc",
    ],
    "ReachabilityChecks": [
      "NetworkReachability", "ReachabilityModel", "EventLoop", "Locks", "Probers", "HostResolver", "DequeModule",
      "Dispatch",
    ],
    "Webhooks": [
      "History", "Database", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "Locks", "Credentials",
      "JSONFormat", "TextSyntax", "DequeModule", "Logging",
    ],
    "ReachabilityFleet": ["ReachabilityModel"],
    "NetworkReachabilityTesting": ["NetworkReachability", "ReachabilityModel", "Locks"],
    "ReachabilityCompatibility": ["NetworkReachability", "Locks", "Dispatch", "Foundation"],
    "Events": [
      "EventStreams", "History", "NetworkReachability", "ReachabilityModel", "JSONFormat", "Locks", "DequeModule",
    ],
    "HTTPRouting": [
      "EmbeddedHTTPServer", "EventStreams", "EventLoop", "ReachabilityModel", "JSONFormat", "Compression",
      "Credentials", "Locks", "TextSyntax", "Dispatch", "DequeModule", "Logging", "Synchronization",
    ],
    "StatusAPI": [
      "HTTPRouting", "Events", "Webhooks", "History", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel",
      "EmbeddedHTTPServer",
      "EventStreams", "JSONFormat", "Compression", "StatusPage", "Contract", "Dispatch", "DequeModule", "Credentials",
      "Locks", "TextSyntax", "Logging", "Synchronization",
    ],
    "FleetAPI": [
      "StatusAPI", "HTTPRouting", "Events", "TextSyntax", "History", "ReachabilityChecks", "NetworkReachability",
      "ReachabilityModel", "ReachabilityFleet",
      "EmbeddedHTTPServer", "EventStreams", "JSONFormat", "StatusPage", "Dispatch", "Webhooks",
      "DequeModule", "Locks", "Logging",
    ],
    "StatusClient": [
      "StatusAPI", "Events", "Probers", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "EventLoop",
      "JSONFormat", "CCurl",
    ],
    "TerminalUI": ["JSONFormat", "ReachabilityModel"],
    "Service": [
      "StatusAPI", "HTTPRouting", "Webhooks", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel",
      "EmbeddedHTTPServer",
      "EventLoop", "Probers", "YAMLTree", "History",
      "Locks", "TextSyntax", "HostProcess", "Credentials", "Logging", "ServiceLifecycle", "UnixSignals", "Dispatch",
      "Synchronization",
    ],
  ]

  /// The programs, which may import every module that is not for tests.
  static let executables: Set<String> = ["reachd", "reachd-fleet"]

  static let foundation: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
  ]
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

  @Test("Modules import only what the table allows")
  func importsGoDown() {
    let diagnostics = sources.filter { !Self.executables.contains($0.module) }.flatMap {
      Checks.forbiddenImports($0, Self.allowedImports)
    }
    #expect(diagnostics.isEmpty)
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

  @Test("Only the compatibility module imports Foundation, no test XCTest")
  func noFoundation() {
    let others = sources.filter { $0.module != "ReachabilityCompatibility" }
    #expect(others.flatMap { Checks.banned($0, Self.foundation) }.isEmpty)
    #expect(tree.files.flatMap { Checks.banned($0, ["XCTest"]) }.isEmpty)
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

  @Test("Every file belongs to a target, and every target has files")
  func targets() throws {
    let targets = Checks.targets(inManifest: try #require(tree.read("Package.swift")))
    #expect(tree.files.flatMap { Checks.orphan($0, targets) }.isEmpty)
    let folders = Set(tree.modules("Sources") + tree.modules("Tests") + tree.modules("Benchmarks"))
    #expect(targets.subtracting(folders).isEmpty)
    #expect(Set(tree.modules("Sources")).subtracting(targets).isEmpty)
    #expect(targets.isSuperset(of: Self.allowedImports.keys), "the table has no line for a removed module")
  }

  @Test(
    "Watching needs only the C library c-ares",
    arguments: ["NetworkReachability", "ReachabilityCompatibility", "NetworkReachabilityTesting"])
  func librariesOfProducts(_ product: String) throws {
    let manifest = try #require(tree.read("Package.swift"))
    let libraries = Checks.systemLibraries(inManifest: manifest)
    // What SwiftPM links, and what the sources may import.
    for graph in [Checks.dependencies(inManifest: manifest), Self.allowedImports] {
      #expect(Checks.closure(of: product, graph).intersection(libraries) == ["CAres"])
      let checks = Checks.closure(of: "ReachabilityChecks", graph).intersection(libraries)
      #expect(checks.isSuperset(of: ["CAres", "CCurl", "CGnuTLS", "CPCRE2"]), "the check finds libraries")
    }
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
