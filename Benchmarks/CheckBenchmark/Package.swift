// swift-tools-version: 6.2
// The probers alone, without the daemon around them: the modules are links to the real ones.
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
]

let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")

let package = Package(
  name: "CheckBenchmark",
  dependencies: [.package(url: "https://github.com/apple/swift-collections", from: "1.6.0")],
  targets: [
    .target(name: "ReachabilityModel", swiftSettings: strict),
    .target(name: "Locks", swiftSettings: strict),
    .target(name: "TextSyntax", swiftSettings: strict),
    .target(name: "CEventLoop"),
    .target(name: "EventLoop", dependencies: ["Locks", "CEventLoop", deque, heap], swiftSettings: strict),
    .systemLibrary(name: "CAres", pkgConfig: "libcares"),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8"),
    .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls"),
    .systemLibrary(name: "CSockets"),
    .target(
      name: "HostResolver", dependencies: ["ReachabilityModel", "EventLoop", "Locks", "CAres", deque],
      swiftSettings: strict),
    .target(
      name: "Probers",
      dependencies: [
        "HostResolver", "EventLoop", "ReachabilityModel", "Locks", "TextSyntax", "CAres", "CCurl", "CPCRE2", "CGnuTLS",
        "CSockets", deque,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "CheckBenchmark", dependencies: ["Probers", "HostResolver", "ReachabilityModel", "Locks"],
      swiftSettings: strict),
  ]
)
