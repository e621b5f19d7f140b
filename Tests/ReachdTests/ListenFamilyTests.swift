import Glibc
import Probers
import StatusClient
import TestSupport
import Testing

/// The address `[::]`, the default of the image: every address of both families.
@Suite struct ListenFamilyTests {
  private func answers(_ url: String) -> Bool {
    (try? HTTPClient.get(url: "\(url)/livez", timeout: .seconds(20), maximumBody: 4_096).status) == 200
  }

  private func port(_ service: RunningService) throws -> Int {
    try #require(service.url.split(separator: ":").last.flatMap { Int($0) })
  }

  @Test func bothFamiliesAreServed() throws {
    let service = try RunningService(listen: ["[::]:0"])
    let port = try port(service)
    #expect(answers("http://127.0.0.1:\(port)") && answers("http://[::1]:\(port)"))
    let health = try Program.run(["healthcheck"], environment: ["REACHD_LISTEN": "[::]:\(port)"])
    #expect(health.end == .exited(0), "\(health.errors)")
  }

  @Test func kernelWithoutIPv6ServesIPv4() throws {
    let directory = try TemporaryDirectory()
    let variables = try RefusedCall.environment(
      [RefusedCall("socket", [0: AF_INET6], errno: EAFNOSUPPORT)], in: directory)
    let service = try RunningService(listen: ["[::]:0"], environment: variables)
    #expect(service.url.hasPrefix("http://0.0.0.0:"), "\(service.url)")
    let port = try port(service)
    #expect(answers("http://127.0.0.1:\(port)"))
    let health = try Program.run(
      ["healthcheck"], environment: variables.merging(["REACHD_LISTEN": "[::]:\(port)"]) { $1 })
    #expect(health.end == .exited(0), "\(health.errors)")
    // Another IPv6 address has no substitute.
    let refused = try Program.run(["serve", "--listen", "[::1]:0"], environment: variables)
    #expect(refused.end == .exited(69), "\(refused.errors)")
  }

  /// `net.ipv6.conf.all.disable_ipv6`: sockets exist, addresses do not.
  @Test(.enabled(if: Namespace.isSupported)) func interfacesWithoutIPv6AreServed() throws {
    let namespace = try Namespace()
    try namespace.sysctl("net.ipv6.conf.all.disable_ipv6", 1)
    let service = try namespace.spawnService(
      Program.path, ["serve", "--listen", "[::]:8080"], environment: Program.environment())
    let variables = Program.environment(["REACHD_LISTEN": "[::]:8080"])
    #expect(
      try eventually {
        try namespace.spawn(Program.path, ["healthcheck"], environment: variables).wait() == .exited(0)
      }, "\(service.errors)")
    service.kill(SIGTERM)
    _ = try service.wait()
  }

  @Test(.enabled(if: Namespace.isSupported), arguments: ["10.9.0.77:0", "[fd09::77]:0", "[fd09::78]:0"])
  func missingAddressIsExplained(listen: String) throws {
    let pair = try VethPair()
    // Duplicate address detection takes a second, in which the address is tentative.
    try pair.client.sysctl("net.ipv6.conf.c0.accept_dad", 1)
    try pair.client.ip("addr add fd09::78/64 dev c0")
    let service = try pair.client.spawn(
      Program.path, ["serve", "--listen", listen], environment: Program.environment())
    #expect(try service.wait() == .exited(69), "\(service.errors)")
    #expect(service.errors.contains("no interface has the address"), "\(service.errors)")
    #expect(service.errors.contains("tentative") && service.errors.contains("freebind: on"), "\(service.errors)")
  }

  @Test(.enabled(if: Namespace.isSupported), arguments: ["10.9.0.77", "[fd09::77]", "[fd09::78]"])
  func missingAddressMayAppearLater(host: String) throws {
    let pair = try VethPair()
    try pair.client.sysctl("net.ipv6.conf.c0.accept_dad", 1)
    try pair.client.ip("addr add fd09::78/64 dev c0")
    let directory = try TemporaryDirectory()
    let file = try directory.write("listen: [{address: \"\(host):8080\", freebind: on}]\n", as: "reachd.yaml")
    let service = try pair.client.spawn(
      Program.path, ["serve", "--config", file], environment: Program.environment())
    defer { service.kill() }
    #expect(eventually { service.errors.contains("\(host):8080") }, "\(service.errors)")
    let address = host.trimmingPrefix("[").replacing("]", with: "")
    if !address.hasSuffix("78") {
      try pair.client.ip("addr add \(address)/\(host.hasPrefix("[") ? "64" : "24") dev c0")
    }
    let variables = Program.environment(["REACHD_LISTEN": "\(host):8080"])
    #expect(
      try eventually {
        try pair.client.spawn(Program.path, ["healthcheck"], environment: variables).wait() == .exited(0)
      }, "\(service.errors)")
  }

  @Test func freebindIsForAddresses() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      "listen: [{address: \"unix:\(directory.path)/s\", freebind: on}]\n", as: "reachd.yaml")
    let (end, _, errors) = try Program.run(["config", "check", "--config", file])
    #expect(end == .exited(78) && errors.contains("freebind"), "\(errors)")
  }

  @Test(arguments: [
    ("[127.0.0.1]:0", "127.0.0.1"), ("::1:0", "[::1]"), ("[::1]:0", "[::1]"), ("[0.0.0.0]:0", "0.0.0.0"),
  ])
  func addressNeedsNoKnowledgeOfItsFamily(listen: String, host: String) throws {
    let service = try RunningService(listen: [listen])
    #expect(service.url.hasPrefix("http://\(host):"))
    #expect(answers(service.url.replacing("0.0.0.0", with: "127.0.0.1")))
  }

  @Test(arguments: [
    ("tcp://fd00:99::2:8476", true), ("tcp://[fd00:99::2]:8476", true), ("tcp://[10.0.0.1]:8476", true),
    ("tcp://10.0.0.1:8476", true), ("tcp://node1:8476", true), ("icmp://10.0.0.1", true), ("tcp://fd00:99::2", false),
    ("tcp://fd00:99::2:", false), ("tcp://fd00:99::2:port", false),
  ])
  func fleetAddressNeedsNoBrackets(address: String, isValid: Bool) throws {
    let (end, _, errors) = try Program.run(["config", "check"], environment: ["REACHD_FLEET_ADDRESS": address])
    #expect(end == .exited(isValid ? 0 : 78), "\(errors)")
  }
}
