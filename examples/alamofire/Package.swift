// swift-tools-version: 6.2
// A program with sources for Alamofire, unchanged, also where they qualify names with the module: a target of one line has that
// name and exports the compatibility library. `make test-long` builds and runs it.
//
// `moduleAliases: ["ReachabilityCompatibility": "Alamofire"]` does not replace that target: it renames the compiled module, and
// the compiler then refuses `import Alamofire` in the sources.
import PackageDescription

/// SwiftPM identifies a package by its directory here, and by its URL in other programs: `reachd` then.
let reachd = String(Context.packageDirectory.split(separator: "/").dropLast(2).last ?? "reachd")

let package = Package(
  name: "Client",
  dependencies: [.package(path: "../..")],
  targets: [
    .target(name: "Alamofire", dependencies: [.product(name: "ReachabilityCompatibility", package: reachd)]),
    .executableTarget(name: "Client", dependencies: ["Alamofire"]),
  ]
)
