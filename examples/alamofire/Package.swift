// swift-tools-version: 6.2
// A program that imports the compatibility library under the name of the original one. It needs no change of its sources,
// also where they qualify names with the module. `make test-long` builds and runs it.
import PackageDescription

let package = Package(
  name: "Client",
  dependencies: [.package(name: "reachd", path: "../..")],
  targets: [
    .executableTarget(
      name: "Client",
      dependencies: [
        .product(
          name: "ReachabilityCompatibility", package: "reachd",
          moduleAliases: ["ReachabilityCompatibility": "Alamofire"])
      ])
  ]
)
