// swift-tools-version: 6.2
// The modules in layers, from the top: reachd → Service → StatusAPI → ReachabilityChecks → NetworkReachability → one
// module per C library → values. docs/ARCHITECTURE.md describes them; Tests/TidyTests checks the imports against the
// dependencies that are declared here.
import PackageDescription

/// `SANITIZE=1` replaces `Synchronization.Mutex`, which ThreadSanitizer does not see, with a pthread mutex in `Locks`.
let sanitizing = Context.environment["SANITIZE"] != nil

/// `REACHD_STRICT=1` makes every warning of this package an error.
///
/// Make and the scripts set it. It is off otherwise, because a warning of another compiler version must not fail the build
/// of a package that depends on this one.
let warningsAreErrors = Context.environment["REACHD_STRICT"] == "1"

/// `DOCS=1` adds the plugin that builds the documentation (`make docs`), which users of the products do not need.
let documenting = Context.environment["DOCS"] != nil

let strict: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
  ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : []) + (sanitizing ? [.define("SANITIZE")] : [])

/// The commit for `reachd --version`, as `make build` and the Dockerfile pass it.
///
/// It is compiled into one C file, so that another commit recompiles only that.
let commit = (Context.environment["REACHD_COMMIT"] ?? "").filter {
  $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")

/// A target under `Sources/` with the shared settings.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A test target under `Tests/` with the shared settings and optional further ones.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil, _ more: [SwiftSetting] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict + more)
}

/// What the tests and the fuzzer of damaged databases use.
let storeRobustness: [Target.Dependency] = [
  "StatusAPI", "FleetAPI", "HTTPRouting", "Webhooks", "History", "Database", "HostProcess", "Credentials",
  "ReachabilityChecks",
  "ReachabilityFleet", "ReachabilityModel", "NetworkReachability", "NetworkReachabilityTesting", "EmbeddedHTTPServer",
  "EventLoop", "JSONFormat", "Locks", "TestSupport", deque, logging,
]

let package = Package(
  name: "reachd",
  products: [
    .executable(name: "reachd", targets: ["reachd"]),
    .executable(name: "reachd-fleet", targets: ["reachd-fleet"]),
    .library(name: "NetworkReachability", targets: ["NetworkReachability"]),
    .library(name: "ReachabilityChecks", targets: ["ReachabilityChecks"]),
    .library(name: "NetworkReachabilityTesting", targets: ["NetworkReachabilityTesting"]),
    .library(name: "ReachabilityCompatibility", targets: ["ReachabilityCompatibility"]),
  ],
  traits: [
    .trait(
      name: "Alamofire4",
      description: "ReachabilityCompatibility has the case `wwan` of Alamofire 4 in place of `cellular` of Alamofire 5")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    // Without its default trait, which depends on Foundation.
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
  ] + (documenting ? [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")] : []),
  targets: [
    // Layer 0: values and rules, the event loop and the lock.
    module("ReachabilityModel"),
    module("Locks"),
    module("TextSyntax"),
    .target(name: "CEventLoop"),
    module("EventLoop", ["Locks", "CEventLoop", deque, heap]),

    // Layer 1: one module per C library and system interface.
    .target(name: "CNetlink"),
    module("Netlink", ["ReachabilityModel", "EventLoop", "Locks", "CNetlink", logging]),
    .systemLibrary(name: "CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    module("HostResolver", ["ReachabilityModel", "EventLoop", "Locks", "CAres", deque]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-gnutls-dev"])]),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
    .systemLibrary(name: "CSockets"),
    module(
      "Probers",
      [
        "HostResolver", "EventLoop", "ReachabilityModel", "Locks", "TextSyntax", "CAres", "CCurl", "CPCRE2", "CGnuTLS",
        "CSockets", deque,
      ]),
    .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    module("EventStreams", ["EventLoop", "Locks", deque]),
    module(
      "EmbeddedHTTPServer",
      ["EventStreams", "EventLoop", "Locks", "TextSyntax", "CMicroHTTPD", "CGnuTLS", deque, logging]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    module("YAMLTree", ["CYAML"]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    module("Compression", ["CZlib"]),
    .target(name: "CPage", exclude: ["web"]),
    module("StatusPage", ["CPage", "TextSyntax"]),
    // Its openapi.yaml is a symbolic link to the file in the root directory, so that the service serves the same file (ADR 7).
    .target(name: "CContract", exclude: ["openapi.yaml"]),
    module("Contract", ["CContract"]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    module("JSONFormat", ["CJansson"]),

    module("Credentials", ["TextSyntax", "CGnuTLS"]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    module("Database", ["EventLoop", "CSQLite"]),
    .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    module("NATSClient", ["CNATS", "Locks"]),
    module("JetStream", ["NATSClient", "JSONFormat", "Locks"]),

    .systemLibrary(name: "CProcess"),
    .target(name: "CBuildInfo", cSettings: commit.isEmpty ? [] : [.define("REACHD_COMMIT", to: "\"\(commit)\"")]),
    module("HostProcess", ["CProcess", "CBuildInfo"]),

    // Layer 2: the libraries. Watching needs c-ares only of all C libraries (ADR 26).
    module("NetworkReachability", ["ReachabilityModel", "Locks", "Netlink", "HostResolver", deque, logging]),
    module(
      "ReachabilityChecks",
      [
        "NetworkReachability", "ReachabilityModel", "EventLoop", "Locks", "TextSyntax", "Probers", "HostResolver",
        deque,
      ]),
    module("History", ["Database", "EventLoop", "HostProcess", "ReachabilityModel", "Locks", deque, logging]),
    module("ReachabilityCompatibility", ["NetworkReachability", "Locks"]),
    module(
      "Webhooks",
      [
        "History", "Database", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "Locks", "Credentials",
        "JSONFormat", "TextSyntax", deque,
        logging,
      ]),
    module("ReachabilityFleet", ["ReachabilityModel", "TextSyntax"]),
    module("NetworkReachabilityTesting", ["NetworkReachability", "ReachabilityModel", "Locks"]),

    module(
      "Events",
      ["EventStreams", "History", "NetworkReachability", "ReachabilityModel", "JSONFormat", "Locks", deque]),

    // Layer 2: HTTP routes without a resource of their own.
    module(
      "HTTPRouting",
      [
        "EmbeddedHTTPServer", "EventStreams", "EventLoop", "ReachabilityModel", "JSONFormat", "Compression",
        "Credentials", "Locks", "TextSyntax", logging,
      ]),

    // Layer 3: the JSON documents and the routes of a node.
    module(
      "StatusAPI",
      [
        "HTTPRouting", "Events", "Webhooks", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel",
        "EmbeddedHTTPServer", "EventStreams", "JSONFormat", "Compression", "StatusPage", "Contract", "Credentials",
        "History", "Locks", "TextSyntax", logging,
      ]),

    // Layer 3: what agents and replicas of a fleet add; reachd does not link it.
    module(
      "FleetAPI",
      [
        "StatusAPI", "HTTPRouting", "Events", "TextSyntax", "ReachabilityChecks", "NetworkReachability",
        "ReachabilityModel", "ReachabilityFleet", "EventStreams", "JSONFormat", "StatusPage", "History", "Webhooks",
        "Locks", deque, logging,
      ]),

    // Layer 4: composition and configuration of the service, for any executable.
    module(
      "Service",
      [
        "StatusAPI", "HTTPRouting", "Webhooks", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel",
        "History",
        "EmbeddedHTTPServer", "EventLoop", "Probers", "YAMLTree", "Locks", "TextSyntax", "HostProcess", "Credentials",
        logging, lifecycle,
        unixSignals,
      ]),

    // Layer 4: what the commands that use a service are made of.
    module(
      "StatusClient",
      [
        "StatusAPI", "Events", "Probers", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel",
        "TerminalUI", "EventLoop", "JSONFormat", "Locks", "TextSyntax", "CCurl",
      ]),

    // Layer 4: what commands show on a terminal, without a terminal.
    module("TerminalUI", ["JSONFormat", "ReachabilityModel"]),

    // Layer 4: the command line.
    .executableTarget(
      name: "reachd",
      dependencies: [
        "Service", "StatusClient", "StatusAPI", "HTTPRouting", "ReachabilityChecks", "NetworkReachability",
        "ReachabilityModel",
        "History",
        "EmbeddedHTTPServer", "Probers", "JSONFormat", "HostProcess", "Credentials", "TerminalUI", "EventLoop",
        "Locks", "TextSyntax", arguments, deque, logging, system, subprocess,
      ],
      swiftSettings: strict),

    // Layer 4: agents and replicas of a fleet. A second executable, so that reachd does not link the engine's client.
    .executableTarget(
      name: "reachd-fleet",
      dependencies: [
        "Service", "StatusAPI", "FleetAPI", "HTTPRouting", "JetStream", "NATSClient", "ReachabilityFleet",
        "ReachabilityChecks", "ReachabilityModel", "History", "EmbeddedHTTPServer", "HostProcess", "Locks", arguments,
        logging,
      ],
      swiftSettings: strict),

    // The benchmarks in Swift of Benchmarks/run, in this package because they import modules that are not products.
    .executableTarget(
      name: "KernelBenchmark",
      dependencies: ["NetworkReachability", "ReachabilityModel", "Netlink", "Locks", "CNetlink", logging],
      path: "Benchmarks/KernelBenchmark", swiftSettings: strict),

    .executableTarget(
      name: "HistoryBenchmark", dependencies: ["History", "Database", logging], path: "Benchmarks/HistoryBenchmark",
      swiftSettings: strict),

    .executableTarget(
      name: "FleetBenchmark", dependencies: ["ReachabilityFleet", "ReachabilityModel", "FleetAPI"],
      path: "Benchmarks/FleetBenchmark", swiftSettings: strict),

    // Tests.
    .target(
      name: "TestSupport", dependencies: ["Locks", "CNetlink", "CGnuTLS"], path: "Tests/TestSupport",
      swiftSettings: strict),
    tests("ReachabilityModelTests", ["ReachabilityModel", "TestSupport"]),
    tests("TextSyntaxTests", ["TextSyntax"]),
    tests("EventLoopTests", ["EventLoop", "Locks", "TestSupport", "CNetlink"]),
    tests("NetlinkTests", ["Netlink", "ReachabilityModel", "TestSupport", "CNetlink", "Locks", logging]),
    tests("HostResolverTests", ["HostResolver", "EventLoop", "ReachabilityModel", "Locks", "TestSupport"]),
    tests(
      "ProbersTests",
      [
        "Probers", "StatusClient", "HostResolver", "EventLoop", "ReachabilityModel", "HostProcess", "Locks",
        "TestSupport",
      ]),
    tests(
      "EmbeddedHTTPServerTests",
      ["EmbeddedHTTPServer", "EventStreams", "EventLoop", "Locks", "TestSupport", "CGnuTLS", logging]),
    tests("EventStreamsTests", ["EventStreams", "Locks", "TestSupport"]),
    tests("StatusClientTests", ["StatusClient", "TerminalUI", "EventLoop", "JSONFormat", "Locks", "TestSupport"]),
    tests("YAMLTreeTests", ["YAMLTree", "TestSupport"]),
    tests("JSONFormatTests", ["JSONFormat"]),
    tests(
      "NetworkReachabilityTests",
      [
        "NetworkReachability", "NetworkReachabilityTesting", "HostResolver", "Locks", "ReachabilityModel",
        "TestSupport", logging,
      ]),
    tests(
      "ReachabilityChecksTests",
      [
        "ReachabilityChecks", "NetworkReachability", "NetworkReachabilityTesting", "Locks", "ReachabilityModel",
        "TestSupport",
      ]),
    tests(
      "WebhooksTests",
      [
        "Webhooks", "History", "Database", "ReachabilityChecks", "NetworkReachability", "NetworkReachabilityTesting",
        "ReachabilityModel",
        "Credentials", "JSONFormat", "Locks", "EmbeddedHTTPServer", "TestSupport", logging,
      ]),
    tests("ReachabilityFleetTests", ["ReachabilityFleet", "ReachabilityModel", "TestSupport"]),
    tests(
      "ReachabilityCompatibilityTests",
      ["ReachabilityCompatibility", "NetworkReachability", "NetworkReachabilityTesting", "TestSupport", "Locks"],
      // Code for the original libraries uses names that are deprecated now; it must still compile.
      [.treatWarning("DeprecatedDeclaration", as: .warning)]),
    tests(
      "EventsTests",
      ["Events", "EventStreams", "History", "JSONFormat", "ReachabilityModel", "Locks"]),
    tests(
      "StatusAPITests",
      [
        "StatusClient", "StatusAPI", "Events", "FleetAPI", "HTTPRouting", "Webhooks", "ReachabilityChecks",
        "ReachabilityFleet", "NetworkReachability", "NetworkReachabilityTesting", "EmbeddedHTTPServer", "EventStreams",
        "EventLoop", "Credentials", "JSONFormat", "History", "Database", "TestSupport", "ReachabilityModel",
        "StatusPage", "Locks", deque, logging,
      ]),
    tests(
      "ContractTests",
      [
        "StatusAPI", "FleetAPI", "HTTPRouting", "ReachabilityChecks", "NetworkReachability",
        "NetworkReachabilityTesting", "EmbeddedHTTPServer", "EventStreams", "EventLoop", "Credentials", "History",
        "YAMLTree", "StatusPage", "TestSupport", deque, logging,
      ]),
    tests("StoreTests", ["TestSupport", "reachd"]),
    tests("StoreRobustnessTests", storeRobustness),
    tests("KernelTests", ["NetworkReachability", "TestSupport", "Locks", "ReachabilityModel", "CNetlink", "reachd"]),
    tests(
      "ServiceTests",
      [
        "Service", "HTTPRouting", "Webhooks", "HostProcess", "EmbeddedHTTPServer", "EventLoop", "History", "Locks",
        "YAMLTree", "Credentials", "StatusAPI", "NetworkReachability", "ReachabilityChecks", "TestSupport", logging,
      ]),
    tests(
      "ReachdTests",
      [
        "Service", "StatusClient", "reachd", "EmbeddedHTTPServer", "Probers", "Locks", "Credentials", "Contract",
        "StatusAPI", "TestSupport", logging,
      ]),
    tests("CompressionTests", ["Compression", "CZlib"]),
    tests("StatusPageTests", ["StatusPage"]),
    tests("TerminalUITests", ["TerminalUI", "JSONFormat", "ReachabilityModel"]),
    tests("CredentialsTests", ["Credentials"]),
    tests("DatabaseTests", ["Database", "EventLoop", "TestSupport"]),
    tests(
      "HistoryTests",
      ["History", "Database", "HostProcess", "ReachabilityModel", "Locks", "TestSupport", logging]),
    tests(
      "FleetTests",
      [
        "JetStream", "NATSClient", "ReachabilityFleet", "ReachabilityModel", "FleetAPI", "Locks", "TestSupport",
        "reachd", "reachd-fleet",
      ]),
    tests("JetStreamTests", ["JetStream", "NATSClient", "Locks", "TestSupport"]),
    tests("HostProcessTests", ["HostProcess", "Locks", "TestSupport"]),
    tests("TidyTests", []),
  ]
)

// REACHD_TEST_TARGET=Name[,Name…] (scripts/test-one, scripts/check) limits the package to these test targets and their
// dependencies, so that one suite builds quickly.
if let names = Context.environment["REACHD_TEST_TARGET"] {
  var needed: Set<String> = []
  var pending = names.split(separator: ",").map(String.init)
  while let next = pending.popLast() {
    guard let target = package.targets.first(where: { $0.name == next }), needed.insert(next).inserted else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): pending.append(name)
      default: break
      }
    }
  }
  package.targets = package.targets.filter { needed.contains($0.name) }
  package.products = []
}

// FUZZ=1 (scripts/fuzz) compiles every module for libFuzzer.
if Context.environment["FUZZ"] != nil {
  let fuzzer: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])]
  package.products = []
  package.targets = package.targets.filter { !$0.isTest }
  for target in package.targets where target.swiftSettings != nil { target.swiftSettings? += fuzzer }
  package.targets += [
    .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "CFuzzer", "CNetlink", "Service", "Netlink", "Events",
      ] + storeRobustness,
      path: "Tests/Fuzz", exclude: ["Seeds"],
      swiftSettings: [.swiftLanguageMode(.v6)] + fuzzer, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
  ]
}
