// swift-tools-version: 6.0
// A peer for the benchmark of GET /status, in a package of its own so that nothing of it enters reachd.
import PackageDescription

let package = Package(
  name: "hummingbird-server",
  platforms: [.macOS(.v14)],
  dependencies: [.package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0")],
  targets: [
    .executableTarget(
      name: "hummingbird-server", dependencies: [.product(name: "Hummingbird", package: "hummingbird")])
  ]
)
