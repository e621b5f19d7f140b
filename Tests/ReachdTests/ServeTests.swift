import Foundation
import Probes
import TestSupport
import Testing

/// The running service: its addresses, its end.
@Suite struct ServeTests {
  private func get(_ url: String) throws -> (status: Int, text: String) {
    let answer = try HTTPClient.get(url: url, timeout: .seconds(20), maximumBody: 1 << 20)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test func everyAddressIsServed() throws {
    let service = try RunningService(listen: ["127.0.0.1:0", "[::1]:0", "127.0.0.1:0"])
    #expect(Set(service.urls).count == 3)
    for url in service.urls {
      #expect(try get(url + "/livez").text == "ok\n")
      #expect(try get(url + "/status").status == 200)
    }
    #expect(try service.terminate() == .exited(0))
  }

  @Test(arguments: [15, 2])
  func aSignalAtOnceAfterTheFirstLineEndsItWell(signal: Int32) throws {
    for _ in 0..<10 {
      let service = try RunningService()
      service.child.kill(signal)
      #expect(try service.child.wait() == .exited(0))
    }
  }

  @Test func readinessTurnsBeforeTheDoorCloses() throws {
    let service = try RunningService(["--drain-delay", "30s", "--grace", "60s"])
    #expect(try eventually { try get(service.url + "/readyz").status == 200 })
    service.child.kill(15)
    #expect(try eventually { try get(service.url + "/readyz").status == 503 })
    #expect(try get(service.url + "/readyz").text.contains("[-] draining"))
    #expect(try get(service.url + "/livez").status == 200)
    #expect(try Program.run(["healthcheck", "--url", service.url]).end == .exited(1))
    service.child.kill()
  }

  @Test func aStreamGetsItsFarewell() throws {
    let service = try RunningService()
    let curl = try Child("/bin/sh", ["-c", "exec curl -sN '\(service.url)/events'"])
    #expect(eventually { curl.output.contains("event: snapshot") || curl.poll() != nil })
    #expect(try service.terminate() == .exited(0))
    #expect(try curl.wait() == .exited(0))
    #expect(curl.output.hasSuffix("retry: 3000\n\nevent: bye\ndata: {}\n\n"))
  }

  @Test func theGraceBoundsTheDrain() throws {
    let service = try RunningService(["--drain-delay", "600s", "--grace", "1s"])
    #expect(try service.terminate() == .exited(0))
  }

  @Test func settingsComeFromTheEnvironmentToo() throws {
    let child = try Program.start(
      ["serve"], environment: ["REACHD_LISTEN": "127.0.0.1:0", "REACHD_LOG_FORMAT": "json"])
    #expect(eventually { child.errors.contains("\"message\":\"listening\"") })
    child.kill()
  }

  @Test func theReadmesShellFindsTheProgram() throws {
    let service = try RunningService()
    let (end, output, _) = try Program.shell(
      "reachd healthcheck\nreachd --version | cut -d' ' -f1", environment: ["REACHD_URL": service.url])
    #expect(end == .exited(0))
    #expect(output == "reachd\n")
    #expect(try Program.shell("false\ntrue").end == .exited(1))
  }
}
