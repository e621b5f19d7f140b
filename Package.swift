// swift-tools-version: 6.2
// The floors of the house, top down: reachd → StatusAPI → ReachabilityChecks → NetworkReachability → one room per
// C library → values.
// docs/ARCHITECTURE.md explains them; Tests/TidyTests holds the sources to the arrows that are declared here.
import PackageDescription

/// ThreadSanitizer does not see `Synchronization.Mutex`; `SANITIZE=1` swaps it for a pthread mutex inside `Locks`.
let sanitizing = Context.environment["SANITIZE"] != nil

/// `DOCS=1` adds the plugin that builds the documentation (`make docs`); nobody else needs it, users of the products least.
let documenting = Context.environment["DOCS"] != nil

let strict: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ] + (sanitizing ? [.define("SANITIZE")] : [])

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")

/// A target under `Sources/` with the shared settings.
func room(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

/// A test target under `Tests/` with the shared settings, and perhaps more.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil, _ more: [SwiftSetting] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict + more)
}

let package = Package(
  name: "reachd",
  products: [
    .executable(name: "reachd", targets: ["reachd"]),
    .library(name: "NetworkReachability", targets: ["NetworkReachability"]),
    .library(name: "ReachabilityChecks", targets: ["ReachabilityChecks"]),
    .library(name: "NetworkReachabilityTesting", targets: ["NetworkReachabilityTesting"]),
    .library(name: "ReachabilityCompatibility", targets: ["ReachabilityCompatibility"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    // Without its default trait, which would bring all of Foundation along.
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
  ] + (documenting ? [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")] : []),
  targets: [
    // Floor 0: values, rules and the one lock.
    room("ReachabilityModel"),
    room("Locks"),
    .target(name: "CEventLoop"),
    room("EventLoop", ["Locks", "CEventLoop", deque, heap]),

    // Floor 1: one wall for each C library.
    .target(name: "CNetlink"),
    room("Netlink", ["ReachabilityModel", "EventLoop", "Locks", "CNetlink", logging]),
    .systemLibrary(name: "CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    room("HostResolver", ["ReachabilityModel", "EventLoop", "Locks", "CAres", deque]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-gnutls-dev"])]),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
    .systemLibrary(name: "CSockets"),
    room(
      "Probers",
      [
        "HostResolver", "EventLoop", "ReachabilityModel", "Locks", "CAres", "CCurl", "CPCRE2", "CGnuTLS", "CSockets",
        deque,
      ]),
    .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    room("EventStreams", ["EventLoop", "Locks", deque]),
    room("EmbeddedHTTPServer", ["EventStreams", "EventLoop", "Locks", "CMicroHTTPD", "CGnuTLS", deque, logging]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    room("YAMLTree", ["CYAML"]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    room("JSONTree", ["CJansson"]),

    room("Credentials", ["CGnuTLS"]),

    .systemLibrary(name: "CProcess"),
    room("HostProcess", ["CProcess"]),

    // Floor 2: the libraries. Of all C libraries those that watch need c-ares alone; active checks are a product of their own.
    room("NetworkReachability", ["ReachabilityModel", "Locks", "Netlink", "HostResolver", deque, logging]),
    room(
      "ReachabilityChecks", ["NetworkReachability", "ReachabilityModel", "Locks", "Probers", "HostResolver", deque]),
    room("ReachabilityCompatibility", ["NetworkReachability", "Locks"]),
    room("NetworkReachabilityTesting", ["NetworkReachability", "ReachabilityModel", "Locks"]),

    // Floor 3: the only floor that knows JSON, SSE and routes.
    // Its openapi.yaml is a link to the one at the top, so that the service serves what the repository shows.
    room(
      "StatusAPI",
      [
        "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "EmbeddedHTTPServer", "EventStreams",
        "JSONTree",
        "Credentials", "Locks", logging,
      ],
      resources: [.embedInCode("openapi.yaml")]),

    // Layer 4: composition and configuration of the service, for any executable.
    room(
      "Service",
      [
        "StatusAPI", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "EmbeddedHTTPServer", "Probers",
        "YAMLTree",
        "Locks", "HostProcess", "Credentials", logging, lifecycle, unixSignals,
      ]),

    // Layer 5: the command line.
    .executableTarget(
      name: "reachd",
      dependencies: [
        "Service", "StatusAPI", "ReachabilityChecks", "NetworkReachability", "ReachabilityModel", "EmbeddedHTTPServer",
        "Probers",
        "JSONTree", "HostProcess", "Credentials", arguments, logging, system, subprocess,
      ],
      swiftSettings: strict),

    // What Benchmarks/run measures of the kernel's side; in this package, because it looks at the moment of judgement.
    .executableTarget(
      name: "KernelBenchmark",
      dependencies: ["NetworkReachability", "ReachabilityModel", "Netlink", "Locks", "CNetlink", logging],
      path: "Benchmarks/KernelBenchmark", swiftSettings: strict),

    // Tests.
    .target(
      name: "TestSupport", dependencies: ["Locks", "CNetlink"], path: "Tests/TestSupport", swiftSettings: strict),
    tests("ReachabilityModelTests", ["ReachabilityModel"]),
    tests("EventLoopTests", ["EventLoop", "Locks", "TestSupport", "CNetlink"]),
    tests("NetlinkTests", ["Netlink", "EventLoop", "ReachabilityModel", "TestSupport", "CNetlink", "Locks", logging]),
    tests("HostResolverTests", ["HostResolver", "EventLoop", "ReachabilityModel", "Locks", "TestSupport"]),
    tests(
      "ProbersTests",
      ["Probers", "HostResolver", "EventLoop", "ReachabilityModel", "HostProcess", "Locks", "TestSupport"]),
    tests(
      "EmbeddedHTTPServerTests",
      ["EmbeddedHTTPServer", "EventStreams", "EventLoop", "Locks", "TestSupport", "CGnuTLS", logging]),
    tests("YAMLTreeTests", ["YAMLTree"]),
    tests("JSONTreeTests", ["JSONTree"]),
    tests(
      "NetworkReachabilityTests",
      ["NetworkReachability", "NetworkReachabilityTesting", "HostResolver", "Locks", "TestSupport", logging]),
    tests(
      "ReachabilityChecksTests",
      ["ReachabilityChecks", "NetworkReachability", "NetworkReachabilityTesting", "Locks", "TestSupport"]),
    tests(
      "ReachabilityCompatibilityTests",
      ["ReachabilityCompatibility", "NetworkReachability", "NetworkReachabilityTesting", "TestSupport", "Locks"],
      // Code written for the parents uses names that they have since deprecated; it must compile all the same.
      [.treatWarning("DeprecatedDeclaration", as: .warning)]),
    tests(
      "StatusAPITests",
      [
        "StatusAPI", "ReachabilityChecks", "NetworkReachability", "NetworkReachabilityTesting", "EmbeddedHTTPServer",
        "EventStreams", "EventLoop", "Credentials", "TestSupport", "Locks", deque, logging,
      ]),
    tests(
      "ContractTests",
      [
        "StatusAPI", "ReachabilityChecks", "NetworkReachability", "NetworkReachabilityTesting", "EmbeddedHTTPServer",
        "EventStreams", "EventLoop", "Credentials", "YAMLTree", "TestSupport", deque, logging,
      ]),
    tests("KernelTests", ["NetworkReachability", "Netlink", "TestSupport", "reachd"]),
    tests(
      "ReachdTests",
      [
        "Service", "reachd", "HostProcess", "EmbeddedHTTPServer", "Probers", "Locks", "YAMLTree", "Credentials",
        "StatusAPI", "TestSupport",
        logging,
      ]),
    tests("CredentialsTests", ["Credentials"]),
    tests("HostProcessTests", ["HostProcess", "Locks", "TestSupport"]),
    tests("TidyTests", []),
  ]
)

// REACHD_TEST_TARGET=Name[,Name…] (scripts/test-one, scripts/check): these test targets and what they depend on, so that one
// suite builds quickly.
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

// FUZZ=1 (scripts/fuzz): every room compiled for libFuzzer.
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
        "CFuzzer", "CNetlink", "Service", "StatusAPI", "EmbeddedHTTPServer", "EventStreams", "Netlink",
        "ReachabilityChecks",
        "NetworkReachability", "NetworkReachabilityTesting", "ReachabilityModel", logging,
      ],
      path: "Tests/Fuzz", exclude: ["Seeds"],
      swiftSettings: [.swiftLanguageMode(.v6)] + fuzzer, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
  ]
}
