import Glibc
import TestSupport
import Testing

/// A process that may not open a netlink socket, as under some seccomp filters: checks are performed all the same, by every
/// command and by the service.
@Suite struct NetlinkForbiddenTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func environment(_ code: Int32 = EPERM) throws -> [String: String] {
    try RefusedCall.environment([RefusedCall("socket", [0: AF_NETLINK], errno: code)], in: directory)
  }

  @Test(arguments: [EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT])
  func commandsCheckWithoutRoutes(code: Int32) throws {
    let service = try RunningService()
    let variables = try environment(code)
    let target = service.url.replacing("http://", with: "tcp://")
    for (arguments, expected) in [
      (["check", target], 0), (["check", "\(service.url)/livez"], 0), (["check", "tcp://127.0.0.1:1"], 1),
      (["check", target, "tcp://127.0.0.1:1"], 1), (["wait", target], 0),
      (["wait", target, "--not", "--timeout", "1s"], 1), (["wait", "tcp://127.0.0.1:1", "--not"], 0),
    ] as [([String], Int32)] {
      let (end, output, errors) = try Program.run(arguments, environment: variables)
      #expect(end == .exited(expected), "\(arguments): \(output)\(errors)")
      #expect(errors.contains("checked without their routes"), "\(errors)")
    }
  }

  @Test(arguments: [
    ["check", "route://127.0.0.1"], ["wait", "127.0.0.1", "--timeout", "1s"], ["status", "--direct"], ["watch"],
    ["wait", "tcp://127.0.0.1:1", "default", "--timeout", "1s"],
  ])
  func routesAreUndetermined(arguments: [String]) throws {
    let (end, _, errors) = try Program.run(arguments, environment: try environment())
    #expect(end == .exited(2), "\(errors)")
    #expect(errors.contains("the kernel cannot be read"), "\(errors)")
  }

  @Test func serviceAndScheduleAgree() throws {
    let web = try RunningService()
    let host = web.url.replacing("http://", with: "")
    let file = try TemporaryFile(
      """
      policy: { allow: [127.0.0.1] }
      targets: [{ id: web, target: "tcp://\(host)", interval: 100ms }, { id: gone, target: "tcp://127.0.0.1:1", interval: 100ms }]
      """)
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path], environment: try environment())
    let client = ServiceReader(service.url)
    #expect(try eventually { try client.get("/targets/web")["state"] == "up" })
    #expect(try eventually { try client.get("/targets/gone")["state"] == "down" })
    #expect(try client.get("/check?target=tcp://\(host)")["state"] == "up")
    #expect(try client.get("/check?target=tcp://127.0.0.1:1")["state"] == "down")
    #expect(try client.get("/check?target=http://\(host)/livez")["state"] == "up")
    #expect(try client.get("/check?target=tcp://localhost:1")["state"] == "down")
    let route = try client.get("/check?target=route://127.0.0.1")
    #expect(route["state"] == "unknown" && route["reason"] == "kernelUnavailable", "\(route)")
  }

  /// The route to any other address may lead to this machine, or through it.
  @Test func policyPermitsListedAddressesOnly() throws {
    let file = try TemporaryFile("policy: { allow: [127.0.0.1] }\n")
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path], environment: try environment())
    let client = ServiceReader(service.url)
    for target in ["tcp://127.0.0.2:1", "tcp://192.0.2.1:1", "tcp://10.0.0.1:1", "tcp://8.8.8.8:53", "icmp://[::1]"] {
      let result = try client.get("/check?target=\(target)&timeout=1s")
      #expect(result["state"] == "unknown" || result["code"] == "policyDenied", "\(target): \(result)")
    }
    let own = try client.get("/check?target=\(service.url.replacing("http://", with: "tcp://"))")
    #expect(own["code"] == "policyDenied" || own["state"] == "unknown", "its own port is denied: \(own)")
    let detail = try client.get("/check?target=tcp://192.0.2.1:1")["detail"]?.text
    #expect(detail?.contains("policy.allow") == true)
  }
}
