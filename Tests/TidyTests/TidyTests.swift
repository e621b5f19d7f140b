import Testing

@Suite("The house is as its plan says")
struct TidyTests {
  /// Which modules each room may import: the arrows of docs/ARCHITECTURE.md.
  static let arrows: [String: Set<String>] = [
    "ReachabilityModel": [],
    "Locks": ["Synchronization", "Glibc"],
    "EventLoop": ["Locks", "CEventLoop", "DequeModule", "HeapModule", "Glibc", "Synchronization"],
    "Netlink": ["ReachabilityModel", "EventLoop", "Locks", "CNetlink", "Glibc", "Logging", "Synchronization"],
    "Names": ["ReachabilityModel", "EventLoop", "Locks", "CAres", "DequeModule", "Glibc"],
    "Probes": [
      "Names", "EventLoop", "ReachabilityModel", "Locks", "DequeModule", "CAres", "CCurl", "CPCRE2", "CGnuTLS",
      "CSockets", "Glibc", "Logging",
      "Synchronization",
    ],
    "MicroHTTP": ["Locks", "CMicroHTTPD", "CGnuTLS", "Glibc", "Logging", "Synchronization"],
    "YAMLTree": ["CYAML", "Glibc"],
    "JSONTree": ["CJansson"],
    "HostProcess": ["CProcess", "Glibc"],
    "Credentials": ["CGnuTLS"],
    "NetworkReachability": [
      "ReachabilityModel", "Locks", "Netlink", "Names", "Logging", "DequeModule", "Dispatch", "Glibc",
    ],
    "ReachabilityChecks": [
      "NetworkReachability", "ReachabilityModel", "Locks", "Probes", "Names", "DequeModule", "Dispatch",
    ],
    "NetworkReachabilityTesting": ["NetworkReachability", "ReachabilityModel", "Locks"],
    "ReachabilityCompatibility": ["NetworkReachability", "Locks", "Dispatch", "Foundation"],
    "StatusAPI": [
      "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "MicroHTTP", "JSONTree", "Credentials", "Locks",
      "Logging", "Synchronization",
    ],
  ]

  static let foundation: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
  ]
  /// The rooms with a C wall, and the one lock.
  static let unsafeRooms: Set<String> = [
    "Locks", "EventLoop", "Netlink", "Names", "Probes", "MicroHTTP", "YAMLTree", "JSONTree", "HostProcess",
    "Credentials",
  ]

  let tree: SourceTree
  var sources: [SourceFile] { tree.files.filter(\.isSource) }

  /// Read once: every test looks at the same files.
  private static let read = Result { try SourceTree() }

  init() throws { tree = try Self.read.get() }

  @Test("Arrows point down: every room imports only what its line in the table allows")
  func arrowsPointDown() {
    let complaints = sources.filter { $0.room != "reachd" }.flatMap { Checks.arrows($0, Self.arrows) }
    #expect(complaints.isEmpty)
  }

  @Test("The top room may import anything but a test's room")
  func topRoom() {
    let top = sources.filter { $0.room == "reachd" }
    #expect(!top.isEmpty)
    #expect(top.flatMap { Checks.banned($0, ["NetworkReachabilityTesting", "TestSupport"]) }.isEmpty)
  }

  @Test("Nobody but the façades, whose parents' notifications are Foundation's, imports it; and no test XCTest")
  func noFoundation() {
    let others = sources.filter { $0.room != "ReachabilityCompatibility" }
    #expect(others.flatMap { Checks.banned($0, Self.foundation) }.isEmpty)
    #expect(tree.files.flatMap { Checks.banned($0, ["XCTest"]) }.isEmpty)
  }

  @Test("No source is longer than 400 lines, few are longer than 200, and no test file is longer than 300")
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

  @Test("The word unsafe stands only in rooms with a C wall")
  func unsafe() {
    let complaints = sources.filter { !Self.unsafeRooms.contains($0.room) }.flatMap(Checks.unsafe)
    #expect(complaints.isEmpty)
    #expect(sources.contains { !Checks.unsafe($0).isEmpty }, "the walls do use it: the check sees something")
  }

  @Test("Production code does not trap on purpose, cast by force, or print, except at the command line")
  func forbiddenCode() {
    #expect(sources.flatMap { Checks.forbiddenCode($0, mayPrint: $0.room == "reachd") }.isEmpty)
  }

  @Test("No note to oneself is left behind")
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
    "Who only watches needs of all C libraries c-ares alone",
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

  @Test("Every room is on the map")
  func map() throws {
    let map = try #require(tree.read("docs/ARCHITECTURE.md"))
    #expect(Checks.missing(tree.rooms("Sources"), inMap: map).isEmpty)
  }
}
