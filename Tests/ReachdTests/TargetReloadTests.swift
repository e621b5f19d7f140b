import Foundation
import TestSupport
import Testing

/// SIGHUP and the sections `targets`, `modules` and `policy`; and what a huge body does to a running service.
@Suite struct TargetReloadTests {
  /// Sends a request with `curl` and decodes the JSON response.
  private func ask(_ reloadable: ReloadableService, _ path: String, _ options: String = "") throws -> JSONValue {
    let (end, output, errors) = try Program.shell("curl -s \(options) '\(reloadable.service.url)\(path)'")
    guard end == .exited(0) else { throw TestError("curl: \(end) \(errors)") }
    return try JSONValue(output)
  }

  private func wait(_ reloadable: ReloadableService, _ id: String, _ state: String) throws {
    #expect(
      try eventually { try ask(reloadable, "/targets/\(id)")["state"]?.text == state }, "\(id) is not \(state)")
  }

  private static let json = "-H 'Content-Type: application/json'"

  @Test func reloadKeepsTheStateOfUnchangedTargets() throws {
    let kept = "  - { id: kept, target: 'tcp://127.0.0.1:1', interval: 24h, fall: 1 }\n"
    let reloadable = try ReloadableService(
      "targets:\n" + kept + "  - { id: gone, target: 'route://10.0.0.1' }\n"
        + "  - { id: changed, target: 'tcp://127.0.0.1:1', fall: 1 }\n")
    for id in ["kept", "changed"] { try wait(reloadable, id, "down") }
    let before = try ask(reloadable, "/targets/kept")
    _ = try ask(reloadable, "/targets/own", "-X PUT \(Self.json) -d '{\"target\": \"route://127.0.0.1\"}'")
    try wait(reloadable, "own", "up")
    try reloadable.reload(
      "targets:\n" + kept + "  - { id: changed, target: 'route://127.0.0.1' }\n"
        + "  - { id: new, target: 'route://127.0.0.1' }\n")
    for id in ["changed", "new", "own"] { try wait(reloadable, id, "up") }
    #expect(try ask(reloadable, "/targets/kept") == before)
    let ids = try ask(reloadable, "/targets")["targets"]?.elements?.compactMap { $0["id"]?.text }
    #expect(ids == ["changed", "kept", "new", "own"])
    #expect(eventually { reloadable.service.child.errors.contains("configuration reloaded changed=targets") })
    // An invalid one changes nothing.
    try reloadable.reload("targets:\n  - { id: new, target: 'route://127.0.0.1' }\n  - { id: bad }\n")
    #expect(try reloadable.total("failure") == 1)
    #expect(try ask(reloadable, "/targets")["targets"]?.elements?.count == 4)
    try reloadable.reload("{}\n")
    #expect(try ask(reloadable, "/targets")["targets"]?.elements?.compactMap { $0["id"]?.text } == ["own"])
  }

  @Test func reloadKeepsPausedTargets() throws {
    let line = "{ id: db, target: 'route://127.0.0.1'"
    let reloadable = try ReloadableService("targets: [\(line) }]\n")
    #expect(try ask(reloadable, "/targets/db/pause", "-X POST")["state"]?.text == "paused")
    try reloadable.reload("settle: 20ms\ntargets: [\(line), labels: { env: prod } }]\n")
    let paused = try ask(reloadable, "/targets/db")
    #expect(paused["state"]?.text == "paused" && paused["labels"]?["env"] == "prod")
    try reloadable.reload("targets: [\(line), paused: true }]\n")
    try reloadable.reload("targets: [\(line), paused: false }]\n")
    try wait(reloadable, "db", "up")
  }

  @Test func reloadAppliesModulesAndPolicy() throws {
    let allowed = "policy: { allow: [127.0.0.0/8] }\n"
    let reloadable = try ReloadableService("modules: { own: { prober: http } }\n")
    // No policy permits the service's own port.
    let peer = try RunningService(["--drain-delay", "0s"])
    let check = "/check?target=\(peer.url)/livez&module=own"
    let put = "-X PUT \(Self.json) -d '{\"target\": \"\(peer.url)/livez\", \"module\": \"own\", \"fall\": 1}'"
    #expect(try ask(reloadable, check)["code"]?.text == "policyDenied")
    #expect(try ask(reloadable, "/targets/peer", put)["code"]?.text == "policyDenied")
    try reloadable.reload("modules: { own: { prober: http } }\n" + allowed)
    #expect(try ask(reloadable, check)["state"]?.text == "up")
    _ = try ask(reloadable, "/targets/peer", put)
    try wait(reloadable, "peer", "up")
    // The module that the target names is another one now.
    try reloadable.reload("modules: { own: { prober: http, expectBody: '^no$' } }\n" + allowed)
    #expect(try ask(reloadable, check)["reason"]?.text == "httpBody")
    try wait(reloadable, "peer", "down")
    // A stricter policy applies to registered targets.
    try reloadable.reload("modules: { own: { prober: http } }\n")
    let denied = try ask(reloadable, "/targets/peer/check", "-X POST")
    #expect(denied["lastCheck"]?["reason"]?.text == "policyDenied")
    #expect(try ask(reloadable, check + "x")["code"]?.text == "badRequest")
  }

  @Test func oversizedBatchIsRejectedWithoutEffect() throws {
    // Checked at the start and not again for a while; otherwise the last check would differ.
    let reloadable = try ReloadableService("targets: [{ id: db, target: 'route://127.0.0.1', interval: 24h }]\n")
    try wait(reloadable, "db", "up")
    let before = try ask(reloadable, "/targets")
    // As curl sends it: with a length, and in chunks, which need a length instead (RFC 9110, section 15.5.12).
    for (options, status) in [("", "413"), ("-H 'Transfer-Encoding: chunked'", "411")] {
      let (end, output, errors) = try Program.shell(
        """
        awk 'BEGIN { printf "["; for (i = 0; i < 1000000; i++)
          printf "%s{\\"id\\":\\"t%d\\",\\"target\\":\\"route://127.0.0.1\\"}", i ? "," : "", i; printf "]" }' |
        curl -s -o /dev/null -w '%{http_code}' -X POST \(Self.json) -H 'Expect:' \(options) --data-binary @- \
          '\(reloadable.service.url)/targets'
        """)
      #expect(output == status, "\(end) \(errors)")
    }
    #expect(try ask(reloadable, "/targets") == before)
    // Two thousand fit.
    let (_, output, _) = try Program.shell(
      """
      awk 'BEGIN { printf "["; for (i = 0; i < 2000; i++)
        printf "%s{\\"id\\":\\"t%d\\",\\"target\\":\\"route://10.0.0.1\\",\\"paused\\":true}", i ? "," : "", i; printf "]" }' |
      curl -s -X POST \(Self.json) --data-binary @- '\(reloadable.service.url)/targets'
      """)
    let results = try JSONValue(output)["results"]?.elements ?? []
    #expect(results.count == 2000 && results.allSatisfy { $0["status"]?.integer == 201 })
  }
}
