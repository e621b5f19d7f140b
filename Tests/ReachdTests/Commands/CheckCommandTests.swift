import Foundation
import TestSupport
import Testing

/// `reachd check` and `reachd wait` with real sockets: a service of our own is the target.
@Suite struct CheckCommandTests {
  @Test func openPortIsUpAndClosedPortIsDown() throws {
    let service = try RunningService()
    let target = service.url.replacing("http://", with: "tcp://")
    let (end, output, errors) = try Program.run(["check", target])
    #expect(end == .exited(0), "\(errors)")
    #expect(output.hasPrefix("up \(target) 127.0.0.1 "))
    let down = try Program.run(["check", target, "tcp://127.0.0.1:1"])
    #expect(down.end == .exited(1))
    #expect(down.output.contains("down tcp://127.0.0.1:1 refused 127.0.0.1 "))
    #expect(down.output.split(separator: "\n").count == 2)
  }

  @Test func jsonEqualsTheServiceDocument() throws {
    let service = try RunningService()
    let target = service.url.replacing("http://", with: "tcp://")
    let document = try JSONValue(try Program.run(["check", target, "--json"]).output)
    #expect(document["state"] == .string("up"))
    #expect(document["phases"]?["connect"] != nil)
    #expect(document["vantage"]?["source"] == .string("127.0.0.1"))
  }

  @Test func explanationIsPrinted() throws {
    let (end, output, _) = try Program.run(["check", "tcp://127.0.0.1:1", "--explain"])
    #expect(end == .exited(1))
    #expect(output.hasPrefix("tcp://127.0.0.1:1 is down: refused\n  ok   link     lo is up\n"))
    #expect(output.contains("  FAIL tcp      127.0.0.1:1: refused"))
  }

  @Test(arguments: [
    ["check"], ["check", "ftp://a"], ["check", "tcp://a"], ["check", "tcp://a:1", "--ip", "5"],
    ["check", "tcp://a:1", "--timeout", "soon"], ["check", "icmp://a", "--count", "0"],
    ["check", "tcp://a:1", "--module", "icmp"], ["wait", "tcp://a"], ["wait", "tcp://a:1", "--check-timeout", "0s"],
    ["wait", "tcp://a:1", "--timeout", "0s"],
  ])
  func invalidCheckArgumentsExit64(arguments: [String]) throws {
    let (end, output, errors) = try Program.run(arguments)
    #expect(end == .exited(64))
    #expect(output.isEmpty)
    #expect(errors.contains("Error: "), "\(errors)")
  }

  @Test("The policy never allows the service's own port")
  func ourOwnPort() throws {
    let file = try TemporaryFile("policy: { allow: [127.0.0.0/8] }")
    // Port 0: the policy uses the port that was bound.
    let service = try RunningService(listen: ["127.0.0.1:0"], ["--config", file.path])
    let port = try #require(service.url.split(separator: ":").last)
    #expect(try Self.get(service.url + "/check?target=tcp://127.0.0.1:1").body["reason"] == .string("refused"))
    #expect(try Self.get(service.url + "/check?target=tcp://127.0.0.1:\(port)").body["code"] == .string("policyDenied"))
  }

  @Test func waitEndsWhenThePortAnswers() throws {
    let port = try Loopback.closedPort()
    let waiting = try Program.start(["wait", "tcp://127.0.0.1:\(port)", "--timeout", "60s"])
    pause(.milliseconds(300), because: "it is refused at least once")
    #expect(waiting.poll() == nil)
    let service = try RunningService(listen: ["127.0.0.1:\(port)"])
    #expect(try waiting.wait(within: .seconds(60)) == .exited(0))
    let gone = try Program.start(["wait", "tcp://127.0.0.1:\(port)", "--not", "--timeout", "60s"])
    try service.terminate()
    #expect(try gone.wait(within: .seconds(60)) == .exited(0))
  }

  @Test func failedWaitReportsTheReason() throws {
    let (end, output, errors) = try Program.run(
      ["wait", "tcp://127.0.0.1:1", "route://127.0.0.1", "--timeout", "300ms"])
    #expect(end == .exited(1))
    #expect(output.isEmpty)
    #expect(errors.contains("reachd: down tcp://127.0.0.1:1 refused 127.0.0.1"), "\(errors)")
    #expect(try Program.run(["wait", "tcp://127.0.0.1:1", "route://127.0.0.1", "--any"]).end == .exited(0))
  }

  @Test func unresolvableNameIsReportedWithoutDelay() throws {
    let silent = try DNSServer { _, _ in .silence }
    let file = try TemporaryFile("resolver: { servers: ['\(silent.address)'] }")
    let timeLimit = ["--config", file.path, "--timeout", "500ms"]
    let check = try Program.run(["wait", "tcp://db.internal:1"] + timeLimit)
    #expect(check.end == .exited(1))
    #expect(
      check.errors == """
        reachd: timeout after 500ms, pending: 1 of 1 targets
        reachd: tcp://db.internal:1: no outcome within 500ms

        """)
    let route = try Program.run(["wait", "db.internal"] + timeLimit)
    #expect(route.end == .exited(1))
    #expect(route.errors.contains("\nreachd: db.internal: the name is not resolved; default path: "))
    // Before the checks of the name have ended.
    let any = ["wait", "tcp://db.internal:1", "route://127.0.0.1", "--any", "--check-timeout", "60s"]
    #expect(try Program.run(any + ["--config", file.path, "--timeout", "50s"]).end == .exited(0))
  }

  @Test func serviceChecksForLocalClientsWithinItsPolicy() throws {
    let service = try RunningService()
    let denied = try Self.get(service.url + "/check?target=tcp://127.0.0.1:1")
    #expect(denied.status == 403)
    #expect(denied.body["code"] == .string("policyDenied"))
    let route = try Self.get(service.url + "/check?target=route://127.0.0.1")
    #expect(route.status == 200)
    #expect(route.body["state"] == .string("up"))
    let probe = try Self.get(service.url + "/probe?target=127.0.0.1:1&module=tcp_connect")
    #expect(probe.status == 403)
    #expect(probe.body["code"] == .string("policyDenied"))
  }

  private static func get(_ url: String) throws -> (status: Int, body: JSONValue) {
    let (_, output, _) = try Program.shell("curl -s -w '\\n%{http_code}' '\(url)'")
    let lines = output.split(separator: "\n")
    return (Int(lines.last ?? "") ?? 0, try JSONValue(lines.dropLast().joined(separator: "\n")))
  }
}
