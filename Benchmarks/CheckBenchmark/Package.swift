// swift-tools-version: 6.2
// The probers alone, without the daemon around them: the rooms are links to the real ones.
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
]

let package = Package(
  name: "CheckBenchmark",
  targets: [
    .target(name: "ReachabilityModel", swiftSettings: strict),
    .target(name: "Locks", swiftSettings: strict),
    .systemLibrary(name: "CAres", pkgConfig: "libcares"),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8"),
    .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls"),
    .systemLibrary(name: "CSockets"),
    .target(name: "Names", dependencies: ["ReachabilityModel", "Locks", "CAres"], swiftSettings: strict),
    .target(
      name: "Probes",
      dependencies: ["Names", "ReachabilityModel", "Locks", "CAres", "CCurl", "CPCRE2", "CGnuTLS", "CSockets"],
      swiftSettings: strict),
    .executableTarget(
      name: "CheckBenchmark", dependencies: ["Probes", "Names", "ReachabilityModel", "Locks"], swiftSettings: strict),
  ]
)
