import Testing

@Suite("Repository rules")
struct TidyTests {
  /// Which modules each room may import: the arrows of docs/ARCHITECTURE.md.
  static let arrows: [String: Set<String>] = [
    "ReachabilityModel": [],
    "Locks": ["Synchronization", "Glibc"],
    "EventLoop": ["Locks", "CEventLoop", "DequeModule", "HeapModule", "Glibc", "Synchronization"],
    "Netlink": ["ReachabilityModel", "EventLoop", "Locks", "CNetlink", "Glibc", "Logging", "Synchronization"],
    "HostResolver": ["ReachabilityModel", "EventLoop", "Locks", "CAres", "DequeModule", "Glibc"],
    "Probers": [
      "HostResolver", "EventLoop", "ReachabilityModel", "Locks", "DequeModule", "CAres", "CCurl", "CPCRE2", "CGnuTLS",
      "CSockets", "Glibc", "Logging",
      "Synchronization",
    ],
    "EventStreams": ["DequeModule", "EventLoop", "Locks", "Glibc", "Synchronization"],
    "EmbeddedHTTPServer": [
      "EventStreams", "DequeModule", "EventLoop", "Locks", "CMicroHTTPD", "CGnuTLS", "Glibc", "Logging",
      "Synchronization",
    ],
    "YAMLTree": ["CYAML", "Glibc"],
    "JSONFormat": ["CJansson"],
    "HostProcess": ["CProcess", "Glibc"],
    "Credentials": ["CGnuTLS"],
    "Database": ["CSQLite", "EventLoop", "Glibc", "Synchronization"],
    "History": [
      "Database", "EventLoop", "ReachabilityModel", "Locks", "DequeModule", "Dispatch", "Logging", "Synchronization",
    ],
    "NetworkReachability": [
      "ReachabilityModel", "Locks", "Netlink", "HostResolver", "Logging", "DequeModule", "Dispatch", "Glibc",
    ],
    "ReachabilityChecks": [
      "NetworkReachability", "ReachabilityModel", "Locks", "Probers", "HostResolver", "DequeModule", "Dispatch",
    ],
    "NetworkReachabilityTesting": ["NetworkReachability", "ReachabilityModel", "Locks"],
    "ReachabilityCompatibility": ["NetworkReachability", "Locks", "Dispatch", "Foundation"],
    "StatusAPI": [
      "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "EmbeddedHTTPServer", "EventStreams",
      "JSONFormat",
      "Credentials", "Locks", "Logging", "Synchronization",
    ],
    "Service": [
      "StatusAPI", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "EmbeddedHTTPServer", "Probers",
      "YAMLTree",
      "Locks", "HostProcess", "Credentials", "Logging", "ServiceLifecycle", "UnixSignals", "Dispatch",
      "Synchronization",
    ],
  ]

  static let foundation: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
  ]
  /// The rooms with a C wall, and the one lock.
  static let unsafeRooms: Set<String> = [
    "Locks", "EventLoop", "Netlink", "HostResolver", "Probers", "EventStreams", "EmbeddedHTTPServer", "YAMLTree",
    "JSONFormat",
    "HostProcess", "Credentials", "Database",
  ]

  let tree: SourceTree
  var sources: [SourceFile] { tree.files.filter(\.isSource) }

  /// Read once: every test looks at the same files.
  private static let read = Result { try SourceTree() }

  init() throws { tree = try Self.read.get() }

  @Test("Modules import only what the table allows")
  func arrowsPointDown() {
    let complaints = sources.filter { $0.room != "reachd" }.flatMap { Checks.arrows($0, Self.arrows) }
    #expect(complaints.isEmpty)
  }

  @Test("The executable imports no test module")
  func topRoom() {
    let top = sources.filter { $0.room == "reachd" }
    #expect(!top.isEmpty)
    #expect(top.flatMap { Checks.banned($0, ["NetworkReachabilityTesting", "TestSupport"]) }.isEmpty)
  }

  @Test("Only the compatibility module imports Foundation, no test XCTest")
  func noFoundation() {
    let others = sources.filter { $0.room != "ReachabilityCompatibility" }
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
    let complaints = sources.filter { !Self.unsafeRooms.contains($0.room) }.flatMap(Checks.unsafe)
    #expect(complaints.isEmpty)
    #expect(sources.contains { !Checks.unsafe($0).isEmpty }, "the walls do use it: the check sees something")
  }

  @Test("Sources contain no traps, forced casts or prints")
  func forbiddenCode() {
    #expect(sources.flatMap { Checks.forbiddenCode($0, mayPrint: $0.room == "reachd") }.isEmpty)
  }

  @Test("No note is left behind")
  func notes() {
    #expect(tree.files.flatMap(Checks.notes).isEmpty)
  }

  @Test("Every file belongs to a target, and every target has files")
  func targets() throws {
    let targets = Checks.targets(inManifest: try #require(tree.read("Package.swift")))
    #expect(tree.files.flatMap { Checks.orphan($0, targets) }.isEmpty)
    let rooms = Set(tree.rooms("Sources") + tree.rooms("Tests") + tree.rooms("Benchmarks"))
    #expect(targets.subtracting(rooms).isEmpty)
    #expect(Set(tree.rooms("Sources")).subtracting(targets).isEmpty)
    #expect(targets.isSuperset(of: Self.arrows.keys), "the table has no line for a room that is gone")
  }

  @Test(
    "Watching needs only the C library c-ares",
    arguments: ["NetworkReachability", "ReachabilityCompatibility", "NetworkReachabilityTesting"])
  func librariesOfProducts(_ product: String) throws {
    let manifest = try #require(tree.read("Package.swift"))
    let libraries = Checks.systemLibraries(inManifest: manifest)
    // What SwiftPM links, and what the sources may import.
    for arrows in [Checks.dependencies(inManifest: manifest), Self.arrows] {
      #expect(Checks.closure(of: product, arrows).intersection(libraries) == ["CAres"])
      let checks = Checks.closure(of: "ReachabilityChecks", arrows).intersection(libraries)
      #expect(checks.isSuperset(of: ["CAres", "CCurl", "CGnuTLS", "CPCRE2"]), "the check sees something")
    }
  }

  @Test("No file is empty")
  func empty() {
    #expect(tree.files.flatMap(Checks.empty).isEmpty)
  }

  @Test("Every module is in ARCHITECTURE.md")
  func map() throws {
    let map = try #require(tree.read("docs/ARCHITECTURE.md"))
    #expect(Checks.missing(tree.rooms("Sources"), inMap: map).isEmpty)
  }
}
