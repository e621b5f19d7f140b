import Foundation
import Probers
import StatusClient
import TestSupport
import Testing

/// The running service: its addresses, its end.
@Suite struct ServeCommandTests {
  private func get(_ url: String) throws -> (status: Int, text: String) {
    let answer = try HTTPClient.get(url: url, timeout: .seconds(20), maximumBody: 1 << 20)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test func everyListenAddressIsServed() throws {
    let service = try RunningService(listen: ["127.0.0.1:0", "[::1]:0", "127.0.0.1:0"])
    #expect(Set(service.urls).count == 3)
    for url in service.urls {
      #expect(try get(url + "/livez").text == "ok\n")
      #expect(try get(url + "/status").status == 200)
    }
    #expect(try service.terminate() == .exited(0))
  }

  @Test(arguments: [15, 2])
  func sigtermAfterTheFirstLineExits0(signal: Int32) throws {
    for _ in 0..<10 {
      let service = try RunningService()
      service.child.kill(signal)
      #expect(try service.child.wait() == .exited(0))
    }
  }

  @Test(arguments: [15, 2])
  func sigtermEndsAPendingConfigurationRead(signal: Int32) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString)").path
    #expect(unsafe mkfifo(path, 0o600) == 0)
    defer { unsafe unlink(path) }
    let child = try Program.start(["serve", "--config", path])
    var writing: Int32 = -1
    // It can be opened for writing as soon as a reader exists.
    eventually {
      writing = unsafe open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      return writing >= 0
    }
    defer { close(writing) }
    #expect(writing >= 0)
    child.kill(signal)
    #expect(try child.wait() == .exited(0))
  }

  @Test func closedStandardErrorIsReplaced() throws {
    let child = try Child(
      "/bin/bash", ["-c", "exec reachd serve --listen unix:/tmp/reachd-closed-$$.sock --drain-delay 0s <&- >&- 2>&-"],
      environment: Program.environment())
    let links = {
      try Program.shell("readlink /proc/\(child.id)/fd/0 /proc/\(child.id)/fd/1 /proc/\(child.id)/fd/2").output
    }
    #expect(try eventually { try links() == String(repeating: "/dev/null\n", count: 3) })
    #expect(
      try eventually {
        try Program.run(["healthcheck", "--url", "unix:/tmp/reachd-closed-\(child.id).sock"]).end == .exited(0)
      })
    child.kill(15)
    #expect(try child.wait() == .exited(0))
  }

  @Test func tooFewDescriptorsAreReported() throws {
    let (end, _, errors) = try Program.shell("ulimit -n 12; exec reachd wait default --timeout 1s")
    #expect(end == .exited(69))
    #expect(errors == "reachd: the limit of 12 open files is below the required 64; see ulimit -n\n")
    let line = "ulimit -n 64; exec reachd serve --listen 127.0.0.1:0 --drain-delay 0s"
    let child = try Child("/bin/bash", ["-c", line], environment: Program.environment())
    #expect(eventually { child.errors.contains("warning few descriptors") })
    #expect(child.errors.contains("limit=64 possibleConnections=32"))
    child.kill(15)
    #expect(try child.wait() == .exited(0))
  }

  @Test func sigtermBeforeTheFirstLineExits0() throws {
    for _ in 0..<5 {
      let child = try Program.start(["serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s"])
      // From the start of its own code: the mask of blocked signals shows it.
      let startsPaused = eventually {
        let status = (try? String(contentsOfFile: "/proc/\(child.id)/status", encoding: .utf8)) ?? ""
        let mask = status.firstMatch(of: /SigBlk:\s+([0-9a-f]+)/).flatMap { UInt64($0.output.1, radix: 16) } ?? 0
        return mask & 1 << 14 != 0
      }
      #expect(startsPaused)
      child.kill(15)
      #expect(try child.wait() == .exited(0))
    }
  }

  @Test func secondInterruptEndsTheDrainDelay() throws {
    let service = try RunningService(["--drain-delay", "600s", "--grace", "600s"])
    #expect(try eventually { try get(service.url + "/readyz").status == 200 })
    service.child.kill(SIGINT)
    #expect(try eventually { try get(service.url + "/readyz").status == 503 })
    for _ in 0..<5 {
      service.child.kill(SIGTERM)
      #expect(try get(service.url + "/readyz").status == 503, "a second SIGTERM changes nothing")
    }
    // The drain is in progress; its wait for a signal begins a moment later.
    #expect(
      eventually {
        service.child.kill(SIGINT)
        return service.child.poll() != nil
      })
    #expect(try service.child.wait() == .exited(0))
  }

  @Test func readinessFailsBeforeTheListenerCloses() throws {
    let service = try RunningService(["--drain-delay", "30s", "--grace", "60s"])
    #expect(try eventually { try get(service.url + "/readyz").status == 200 })
    service.child.kill(15)
    #expect(try eventually { try get(service.url + "/readyz").status == 503 })
    #expect(try get(service.url + "/readyz").text.contains("[-] draining"))
    #expect(try get(service.url + "/livez").status == 200)
    #expect(try Program.run(["healthcheck", "--url", service.url]).end == .exited(1))
    service.child.kill()
  }

  @Test func streamReceivesTheCloseEvent() throws {
    let service = try RunningService()
    let curl = try Child("/bin/sh", ["-c", "exec curl -sN '\(service.url)/events'"])
    #expect(eventually { curl.output.contains("event: snapshot") || curl.poll() != nil })
    #expect(try service.terminate() == .exited(0))
    #expect(try curl.wait() == .exited(0))
    #expect(curl.output.hasSuffix("retry: 3000\nevent: bye\ndata: {}\n\n"))
  }

  @Test func gracePeriodLimitsTheDrain() throws {
    let service = try RunningService(["--drain-delay", "600s", "--grace", "1s"])
    #expect(try service.terminate() == .exited(0))
  }

  @Test func waitingRequestsAreAnsweredWithinTheGrace() throws {
    let service = try RunningService(["--drain-delay", "600s", "--grace", "2s"])
    let script = """
      tag=$(curl -sI '\(service.url)/interfaces' | tr -d '\\r' | sed -n 's/^ETag: //p')
      exec curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: $tag" '\(service.url)/interfaces?wait=10m'
      """
    let curl = try Child("/bin/sh", ["-c", script])
    #expect(try eventually { try get(service.url + "/metrics").text.contains(/reachd_http_waiting_requests.* 1\n/) })
    #expect(try service.terminate() == .exited(0))
    #expect(try curl.wait() == .exited(0), "\(curl.errors)")
    #expect(["200", "304"].contains(curl.output))
  }

  @Test func environmentSettingsAreApplied() throws {
    let child = try Program.start(
      ["serve"], environment: ["REACHD_LISTEN": "127.0.0.1:0", "REACHD_LOG_FORMAT": "json"])
    #expect(eventually { child.errors.contains("\"message\":\"listening\"") })
    child.kill()
  }

  @Test func readmeCommandFindsTheProgram() throws {
    let service = try RunningService()
    let (end, output, _) = try Program.shell(
      "reachd healthcheck\nreachd --version | cut -d' ' -f1", environment: ["REACHD_URL": service.url])
    #expect(end == .exited(0))
    #expect(output == "reachd\n")
    #expect(try Program.shell("false\ntrue").end == .exited(1))
  }
}
