import EmbeddedHTTPServer
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import StatusAPI

@Suite struct HealthRoutesTests {
  private static let stuck = HealthCheck("loop") { "stuck" }
  private static let well = HealthCheck("loop") { nil }

  @Test func readinessFollowsTheKernelTables() throws {
    let service = try ScriptedService(started: false)
    #expect(try service.ask("/readyz").status == 503)
    #expect(try service.ask("/readyz").text == "[-] kernel not read yet\n[+] draining ok\n")
    #expect(try service.ask("/livez").status == 200)
    try service.monitor.start()
    #expect(try service.ask("/readyz").text == "ok\n")
    service.kernel.fail(KernelError(operation: "recvmsg", errno: 5, message: "I/O error"))
    #expect(try service.ask("/readyz").text == "[-] kernel cannot be read\n[+] draining ok\n")
    #expect(try service.ask("/livez").status == 200)
    service.kernel.change()
    #expect(try service.ask("/readyz").status == 200)
  }

  @Test func unreachableMachineIsReady() throws {
    let service = try ScriptedService(nil)
    #expect(try service.ask("/status", ["Accept": "text/plain"]).text == "notReachable noRoute\n")
    #expect(try service.ask("/readyz").status == 200)
  }

  @Test func drainingAffectsReadinessOnly() throws {
    let service = try ScriptedService()
    service.service.beginDrain()
    #expect(try service.ask("/readyz").status == 503)
    #expect(try service.ask("/readyz").text == "[+] kernel ok\n[-] draining the service is stopping\n")
    for path in ["/livez", "/healthz", "/status", "/readyz/kernel"] {
      #expect(try service.ask(path).status == 200)
    }
    #expect(try service.ask("/readyz/draining").status == 503)
  }

  @Test func livezAndHealthzReportTheLivenessChecks() throws {
    let stuck = try ScriptedService(.wired, .init { $0.liveChecks = [Self.stuck] })
    for path in ["/livez", "/healthz"] {
      #expect(try stuck.ask(path).status == 503)
      #expect(try stuck.ask(path).text == "[-] loop stuck\n")
    }
    let well = try ScriptedService(
      .wired,
      .init {
        $0.liveChecks = [Self.well]
        $0.readyChecks = [Self.stuck]
      })
    #expect(try well.ask("/livez").text == "ok\n")
    #expect(try well.ask("/livez?verbose").text == "[+] loop ok\n")
    #expect(try well.ask("/readyz/loop").text == "[-] loop stuck\n")
  }

  @Test func aWarningIsShownAndChangesNothing() throws {
    let slow = HealthCheck("threads") { .warn("stalled: checks for 2 s") }
    let warned = try ScriptedService(.wired, .init { $0.readyChecks = [slow] })
    #expect(try warned.ask("/readyz").text == "ok\n")
    #expect(try warned.ask("/readyz?verbose").status == 200)
    #expect(try warned.ask("/readyz?verbose").text.contains("[!] threads stalled: checks for 2 s\n"))
    #expect(try warned.ask("/readyz", ["Accept": "application/json"]).object()["status"] as? String == "warn")
    let stalled = HealthCheck("threads") { .fail("stalled: checks for 30 s") }
    let failed = try ScriptedService(.wired, .init { $0.readyChecks = [stalled] })
    #expect(try failed.ask("/readyz").status == 503)
    #expect(try failed.ask("/livez").status == 200)
  }

  @Test(arguments: ["/livez?verbose", "/livez?verbose=1", "/healthz?verbose", "/livez"])
  func livezWithoutChecksAnswersOK(target: String) throws {
    #expect(try ScriptedService().ask(target).text == "ok\n")
  }

  @Test func reportFollowsTheHealthJSONDraft() throws {
    let service = try ScriptedService()
    service.service.beginDrain()
    let response = try service.ask("/readyz", ["Accept": "application/health+json"])
    #expect(response.status == 503)
    #expect(response.headers["Content-Type"] == "application/health+json")
    #expect(response.headers["Cache-Control"] == "no-store")
    let report = try response.object()
    #expect(report["status"] as? String == "fail")
    let checks = try #require(report["checks"] as? [String: [[String: Any]]])
    #expect(checks["kernel"]?.first?["status"] as? String == "pass")
    #expect(checks["draining"]?.first?["output"] as? String == "the service is stopping")
    #expect(try service.ask("/readyz", ["Accept": "application/json"]).object()["status"] as? String == "fail")
  }

  @Test func unknownCheckAnswers404WithTheKnownList() throws {
    let problem = try ScriptedService().ask("/readyz/disk").object()
    #expect(problem["detail"] as? String == "unknown health check \"disk\"; expected one of kernel, draining")
  }
}
