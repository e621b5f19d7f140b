import Foundation
import TestSupport
import Testing

/// `reachd watch`, here and in a network of its own.
@Suite struct WatchCommandTests {
  @Test func currentStateIsPrintedFirstAndSIGINTEndsIt() throws {
    let watch = try Program.start(["watch"])
    #expect(eventually { watch.output.hasSuffix("\n") })
    #expect(watch.output.contains(#/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (reachable|notReachable) /#))
    #expect(watch.poll() == nil)
    watch.kill(2)
    #expect([.killed(2), .exited(0), .exited(130)].contains(try watch.wait()))
  }

  @Test func closedOutputEndsTheCommand() throws {
    let (end, output, _) = try Program.shell("reachd watch | head -n 1; reachd watch --json | head -n 1")
    #expect(end == .exited(0))
    #expect(output.split(separator: "\n").count == 2)
  }

  @Test(arguments: ["watch", "status --direct"])
  func writeErrorEndsTheCommand(command: String) throws {
    let (end, _, errors) = try Program.shell("reachd \(command) > /dev/full")
    #expect(end == .exited(74))
    #expect(errors.contains("standard output: No space left on device"))
  }

  @Test(arguments: ["token create --scope read", "status --direct", "config check"])
  func undeliveredOutputIsAFailure(command: String) throws {
    let (end, _, errors) = try Program.shell("reachd \(command) >&-")
    #expect(end == .exited(74))
    #expect(errors.contains("standard output: Bad file descriptor"))
  }

  @Test("D-02 the host's name precedes its verdict, like scutil -W")
  func aHostsVerdictComesWithItsName() throws {
    let watch = try Program.start(["watch", "127.0.0.1", "localhost", "--json"])
    #expect(eventually { watch.output.split(separator: "\n").count >= 2 })
    for line in watch.output.split(separator: "\n").prefix(2) {
      let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(event?["type"] as? String == "host")
      #expect(event?["initial"] as? Bool == true)
    }
    watch.kill()
  }

  @Test func jsonStartsWithASnapshot() throws {
    let watch = try Program.start(["watch", "--json"])
    #expect(eventually { watch.output.hasSuffix("\n") })
    let line = watch.output.split(separator: "\n").first ?? ""
    let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(event?["type"] as? String == "snapshot")
    #expect((event?["status"] as? [String: Any])?["interfaces"] != nil)
    watch.kill()
  }

  @Test func execRunsForEveryLineWithItsEnvironment() throws {
    let hook = "echo \"hook $REACHD_STATUS,$REACHD_INITIAL,$REACHD_HOST,$REACHD_TIME\"; exit 3"
    let watch = try Program.start(["watch", "127.0.0.1", "--exec", hook])
    #expect(eventually { watch.errors.contains("--exec ended with") })
    #expect(watch.output.contains(#/hook reachable,1,127\.0\.0\.1,\d{4}-/#))
    #expect(watch.poll() == nil, "a failing command ends nothing")
    watch.kill()
  }

  @Test(.enabled(if: Namespace.isSupported))
  func networkChangesArePrinted() throws {
    let pair = try VethPair()
    let watch = try pair.client.spawn(Program.path, ["watch"], environment: Program.environment())
    #expect(eventually { watch.output.contains("notReachable noRoute\n") })
    try pair.addDefaultRoutes()
    #expect(eventually { watch.output.contains(" reachable ethernetOrWiFi c0 via 10.9.0.1\n") })
    try pair.client.ip("route del default")
    #expect(eventually { watch.output.contains(" reachable ethernetOrWiFi c0 via fd09::1\n") })
    watch.kill()
  }

  @Test(.enabled(if: Namespace.isSupported))
  func configuredSettleTimeIsApplied() throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    let watch = try pair.client.spawn(
      Program.path, ["watch"], environment: Program.environment(["REACHD_SETTLE": "60s"]))
    #expect(eventually { watch.output.contains("via 10.9.0.1\n") })
    try pair.client.ip("-6 route del default")
    try pair.client.ip("route del default")
    // Another reading of the kernel takes far longer than the default settle time.
    let direct = try pair.client.spawn(Program.path, ["status", "--direct"], environment: Program.environment())
    #expect(try direct.wait() == .exited(1))
    try pair.client.ip("route add default via 10.9.0.77 dev c0")
    #expect(eventually { watch.output.contains("via 10.9.0.77\n") })
    #expect(!watch.output.contains("notReachable"), "a replaced route is no outage within a minute")
    watch.kill()
  }

  @Test(.enabled(if: Namespace.isSupported))
  func brokenPipeEndsTheCommand() throws {
    let pair = try VethPair()
    let shell = try pair.client.spawn(
      "/bin/sh", ["-c", "\(Program.path) watch | head -n 1"], environment: Program.environment())
    #expect(eventually { shell.output.hasSuffix("\n") })
    try pair.addDefaultRoutes()
    for _ in 0..<100 where shell.poll() == nil {
      try pair.client.ip("route replace default via 10.9.0.1 dev c0 metric 1")
      try pair.client.ip("route del default via 10.9.0.1 dev c0 metric 1")
    }
    #expect(try shell.wait() == .exited(0))
    #expect(shell.output.split(separator: "\n").count == 1)
  }
}
