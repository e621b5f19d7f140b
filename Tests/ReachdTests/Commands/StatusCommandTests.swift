import Logging
import EmbeddedHTTPServer
import TestSupport
import Testing

/// The codes of `reachd status` that a healthy machine with a way out does not show.
@Suite struct StatusCommandTests {
  @Test(.enabled(if: Namespace.isSupported))
  func machineWithoutADefaultPathExits1() throws {
    let namespace = try Namespace()
    let service = try namespace.spawn(
      Program.path, ["serve", "--listen", "127.0.0.1:8080"], environment: Program.environment())
    #expect(eventually { service.errors.contains("first verdict") })
    for arguments in [["status"], ["status", "--direct"]] {
      let status = try namespace.spawn(Program.path, arguments, environment: Program.environment())
      #expect(try status.wait() == .exited(1))
      #expect(status.output == "notReachable noRoute\n")
    }
    let health = try namespace.spawn(Program.path, ["healthcheck"], environment: Program.environment())
    #expect(try health.wait() == .exited(0), "the network is no matter of health")
    service.kill()
  }

  @Test(arguments: [
    ("text/plain; charset=utf-8", "unknown starting\n", []),
    ("application/json", "{\"status\":\"unknown\"}\n", ["--json"]),
    ("text/html", "<h1>Bad gateway</h1>", []), ("application/problem+json", "{}", ["--json"]),
    // The response of a proxy, and of an unknown server.
    ("text/plain", "upstream connect error", []), ("text/plain", "", []), ("text/plain", "reachable eth0", []),
    ("application/json", "{\"status\":\"reachable\"}", ["--json"]), ("application/json", "notReachable", ["--json"]),
  ])
  func unknownStateAndInvalidAnswerExit2(type: String, body: String, arguments: [String]) throws {
    let other = HTTPServer(
      configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)),
      handler: { _ in
        .now(HTTPResponse(status: 503, headers: ["Content-Type": type], body: .bytes(Array(body.utf8))))
      }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try other.start()
    defer { other.stop() }
    let url = "http://\(other.boundAddress)"
    #expect(try Program.run(["status", "--url", url] + arguments).end == .exited(2))
    #expect(try Program.run(["healthcheck", "--url", url]).end == .exited(1))
  }
  @Test func socketWithoutAServiceIsNamed() throws {
    let (end, _, errors) = try Program.run(["status", "--url", "unix:/nowhere/reachd.sock"])
    #expect(end == .exited(2))
    #expect(errors.contains("unix:/nowhere/reachd.sock: No such file or directory") && !errors.contains("localhost"))
  }
}
