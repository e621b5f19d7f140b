import Foundation
import Glibc
import TestSupport
import Testing

/// Gates of a running service: the file, the commands, and restarts.
@Suite struct GateCommandTests {
  private static let target = "targets: [{ id: db, target: 'route://127.0.0.1', labels: { tier: backend } }]\n"

  private func gate(_ service: RunningService, _ id: String = "app") throws -> JSONValue {
    try ServiceReader(service.url).get("/gates/\(id)")
  }

  private func wait(_ service: RunningService, _ id: String = "app", toBe state: String) throws {
    #expect(
      try eventually { try gate(service, id)["state"]?.text == state },
      "\(id) is not \(state): \(service.child.errors)")
  }

  @Test func commandsFollowTheState() throws {
    let file = try TemporaryFile(Self.target + "gates:\n  app: { targets: [db] }\n  late: { targets: [none] }\n")
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    try wait(service, toBe: "open")
    let url = ["--url", service.url]
    let list = try Program.run(["gates"] + url)
    #expect(list.end == .exited(1))
    let lines = list.output.split(separator: "\n")
    #expect(
      lines.count == 2 && lines[0].hasPrefix("open app since ")
        && lines[1].hasPrefix("closed late notRegistered none since "))
    #expect(try Program.run(["gates", "--json"] + url).output.hasPrefix("{\"gates\":["))
    #expect(try Program.run(["healthcheck", "--gate", "app"] + url).end == .exited(0))
    let unhealthy = try Program.run(["healthcheck", "--gate", "late"] + url)
    #expect(unhealthy.end == .exited(1) && unhealthy.errors.contains("not open (503): closed late notRegistered none"))
    #expect(try Program.run(["healthcheck", "--gate", "unknown"] + url).end == .exited(1))
    #expect(try Program.run(["healthcheck", "--gate", "NO"] + url).end == .exited(64))
    let started = try Program.run(["wait", "gate:app", "--service", service.url, "--", "echo", "started"])
    #expect(started.end == .exited(0) && started.output == "started\n", "\(started.errors)")
    let late = try Program.run([
      "wait", "gate:app", "gate:late", "--service", service.url, "--timeout", "50ms", "--", "echo",
    ])
    #expect(late.end == .exited(1) && late.output.isEmpty)
    #expect(late.errors.contains("pending: 1 of 2 targets"))
    #expect(late.errors.contains("reachd: gate:late: closed late notRegistered none since "))
    for arguments in [
      ["gate:late", "gate:app", "--any"], ["gate:late", "127.0.0.1", "--any"], ["gate:late", "--not"],
    ] {
      #expect(
        try Program.run(["wait"] + arguments + ["--service", service.url]).end == .exited(0), "\(arguments)")
    }
    let json = try Program.run(["wait", "gate:app", "127.0.0.1", "--json"], environment: ["REACHD_URL": service.url])
    #expect(json.end == .exited(0) && json.output.contains("\"gate\":{\"id\":\"app\",\"state\":\"open\""), "\(json)")
  }

  @Test func waitRetriesUntilTheServiceHasTheGate() throws {
    let bound = try Loopback.bound(.stream)
    let address = "127.0.0.1:\(bound.port)"
    close(bound.descriptor)
    let child = try Program.start(
      ["wait", "gate:app", "--service", "http://\(address)", "--timeout", "60s", "--", "echo", "started"])
    let service = try RunningService(listen: [address])
    let put = "curl -s -X PUT -H 'Content-Type: application/json' -d '{\"machine\": null, \"targets\": [\"db\"]}'"
    #expect(try Program.shell("\(put) \(service.url)/gates/app").end == .exited(0))
    let target = "curl -s -X PUT -H 'Content-Type: application/json' -d '{\"target\": \"route://127.0.0.1\"}'"
    #expect(try Program.shell("\(target) \(service.url)/targets/db").end == .exited(0))
    #expect(try child.wait(within: .seconds(60)) == .exited(0))
    #expect(child.output == "started\n", "\(child.errors)")
  }

  @Test func waitWithoutPermissionExits77() throws {
    let token = try Program.run(["token", "create", "--scope", "check"])
    let digest = try #require((token.output + token.errors).firstMatch(of: #/sha256: "?([0-9a-f]{64})/#)?.1)
    let file = try TemporaryFile(
      "access: { reads: token }\ntokens: [{ id: a, sha256: '\(digest)', scopes: [read] }]\ngates: { app: { machine: reachable } }\n"
    )
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    let (end, _, errors) = try Program.run(["wait", "gate:app", "--service", service.url, "--", "echo"])
    #expect(end == .exited(77) && errors.hasPrefix("reachd: gate:app: "), "\(errors)")
  }

  @Test(arguments: [
    ["wait", "gate:"], ["wait", "gate:APP"], ["wait", "127.0.0.1", "--service", "http://127.0.0.1:1"],
    ["wait", "gate:app", "--service", "nonsense://x"], ["wait", "gate:app", "--service", ""],
  ])
  func invalidGateArgumentsExit64(arguments: [String]) throws {
    let (end, _, errors) = try Program.run(arguments)
    #expect(end == .exited(64) && errors.contains("Error: "), "\(errors)")
  }

  @Test func configurationErrorsHavePlaceAndHint() throws {
    let cases = [
      (
        "gates: { app: {} }",
        "1:10: gates.app: the gate requires nothing; give at least one of machine, targets and select"
      ),
      ("gates: [app]", "1:8: gates: a mapping is expected here; write key: value"),
      ("gates:", "1:1: gates: missing value; leave the key out, or write {} or [] for none"),
      ("gates: { App: { targets: [db] } }", "1:10: gates.App: \"App\" is not an id of a gate"),
      ("gates: { app: { target: [db] } }", "1:17: gates.app.target: unknown key; did you mean targets?"),
      ("gates: { app: { targets: db } }", "1:26: gates.app.targets: a list is expected here; write [db, cache]"),
      ("gates: { app: { targets: [DB] } }", "gates.app.targets: \"DB\" is not an id of a target"),
      ("gates: { app: { machine: yes } }", "1:26: gates.app.machine: \"yes\" is not a condition for the machine"),
      ("gates: { app: { machine: { type: wwan } } }", "gates.app.machine.type: unknown key"),
      ("gates: { app: { machine: { connectionType: lte } } }", "gates.app.machine: \"lte\" is not a condition"),
      ("gates: { app: { select: [a] } }", "gates.app.select: a mapping is expected here"),
      ("gates: { app: { select: { 'a b': c } } }", "gates.app.select: \"a b\" is not the name of a label"),
      ("gates: { app: { select: { a: b }, atLeast: 0 } }", "gates.app.atLeast: \"0\" is not a number of targets"),
      ("gates: { app: { select: { a: b }, atLeast: 120% } }", "gates.app.atLeast: \"120%\" is not a number of targets"),
      ("gates: { app: { targets: [a], atLeast: 1 } }", "gates.app.atLeast: there are no selected targets"),
      ("gates: { app: { targets: [a], clients: true } }", "gates.app.clients: there are no selected targets"),
      (
        "gates: { app: { targets: [a], clients: maybe } }",
        "gates.app.clients: \"maybe\" is invalid; expected true or false"
      ),
      (
        "gates: { app: { targets: [a], openAfter: 25h } }",
        "gates.app.openAfter: \"25h\" is invalid; expected a duration from"
      ),
      ("gates: { app: { targets: [a], paused: open } }", "gates.app.paused: \"open\" is not a rule for paused targets"),
      ("gates: { app: { targets: [a], app: { targets: [b] } } }", "gates.app.app: unknown key"),
      ("gate: { app: { targets: [a] } }", "gate: unknown key; did you mean gates?"),
    ]
    for (text, message) in cases {
      let (end, _, errors) = try Program.run(["config", "check", "--config", "/dev/stdin"], input: text + "\n")
      #expect(end == .exited(78) && errors.contains(message), "\(text): \(errors)")
    }
    let several = """
      gates: { app: { target: [db], openAfter: 25h, paused: open, machine: { type: x } }, Late: { select: [a], atLeast: 0 } }

      """
    let (_, _, errors) = try Program.run(["config", "check", "--config", "/dev/stdin"], input: several)
    for message in [
      "gates.app.target: unknown key", "gates.app.openAfter: ", "gates.app.paused: ", "gates.app.machine.type: unknown",
      "gates.Late: ", "gates.Late.select: ", "gates.Late.atLeast: \"0\" is not a number",
    ] { #expect(errors.contains(message), "\(message): \(errors)") }
    // What follows from another error is not one of its own.
    for text in ["requires nothing", "no selected targets"] { #expect(!errors.contains(text), "\(errors)") }
    #expect(try Program.run(["config", "check", "--config", "/dev/stdin"], input: "gates: {}\n").end == .exited(0))
  }

  @Test func reloadAddsChangesAndRemovesGates() throws {
    let reloadable = try ReloadableService(Self.target + "gates: { app: { targets: [db] }, gone: { targets: [db] } }\n")
    try wait(reloadable.service, toBe: "open")
    let before = try gate(reloadable.service)
    try reloadable.reload(Self.target + "gates: { app: { targets: [db] }, new: { select: { tier: backend } } }\n")
    #expect(try gate(reloadable.service) == before)
    try wait(reloadable.service, "new", toBe: "open")
    #expect(try gate(reloadable.service, "gone")["code"]?.text == "notFound")
    #expect(eventually { reloadable.service.child.errors.contains("configuration reloaded changed=gates") })
    try reloadable.reload("gates: { app: { targets: [db] }, new: { select: { tier: backend } } }\n")
    #expect(try gate(reloadable.service)["reason"]?.text == "notRegistered")
    #expect(try gate(reloadable.service, "new")["reason"]?.text == "noMembers")
    #expect(eventually { reloadable.service.child.errors.contains("a gate names targets that do not exist") })
  }

  /// Neither the removal of a target that a gate does not name any more, nor new labels, close it for a moment.
  @Test func reloadTakesEffectAsAWhole() throws {
    let old = """
      targets: [{ id: a, target: 'route://127.0.0.1', labels: { tier: old } }, { id: b, target: 'route://127.0.0.2' }]
      gates: { named: { targets: [a, b] }, selected: { select: { tier: old } } }

      """
    let reloadable = try ReloadableService(old)
    for id in ["named", "selected"] { try wait(reloadable.service, id, toBe: "open") }
    try reloadable.reload(
      """
      targets: [{ id: a, target: 'route://127.0.0.1', labels: { tier: new } }]
      gates: { named: { targets: [a] }, selected: { select: { tier: new } } }

      """)
    for id in ["named", "selected"] { #expect(try gate(reloadable.service, id)["state"]?.text == "open") }
    let events = try Program.shell(
      "curl -s -H 'Accept: application/json' '\(reloadable.service.url)/events?types=gate'"
    ).output
    #expect(events.contains("\"from\":\"open\",\"to\":\"open\""), "\(events)")
    #expect(!events.contains("\"from\":\"open\",\"to\":\"closed\""), "\(events)")
  }

  // MARK: - Restarts

  private func serve(_ file: TemporaryFile, _ data: TemporaryDirectory) throws -> RunningService {
    try RunningService(["--drain-delay", "0s", "--config", file.path, "--data", data.path])
  }

  private func events(_ service: RunningService) throws -> [String] {
    let events = try ServiceReader(service.url).get("/gates/app/history?order=asc")["history"]?.elements ?? []
    return events.map { "\($0["from"]?.text ?? "-") \($0["to"]?.text ?? "-") \($0["reason"]?.text ?? "-")" }
  }

  /// Within ten seconds, an open gate stays open without an event, also after a kill.
  @Test(arguments: [SIGTERM, SIGKILL])
  func restartKeepsAnOpenGateOpen(number: Int32) throws {
    let data = try TemporaryDirectory()
    let file = try TemporaryFile(
      "targets: [{ id: db, target: 'route://127.0.0.1', interval: 24h }]\ngates: { app: { targets: [db], openAfter: 1s } }\n"
    )
    let first = try serve(file, data)
    try wait(first, toBe: "open")
    let (before, past) = (try gate(first), try events(first))
    #expect(past.last == "closed open -")
    first.child.kill(number)
    _ = try first.child.wait()
    let second = try serve(file, data)
    #expect(try gate(second)["state"]?.text == "open")
    #expect(try gate(second)["since"] == before["since"])
    #expect(try events(second) == past)
  }

  @Test func gatesOfClientsSurviveARestart() throws {
    let data = try TemporaryDirectory()
    let file = try TemporaryFile("gates: { lost: { machine: reachable } }\n")
    let first = try serve(file, data)
    let body =
      #"{"select": {"tier": "backend"}, "clients": true, "atLeast": "50%", "openAfter": "2s", "paused": "ignore"}"#
    let put = "curl -s -X PUT -H 'Content-Type: application/json' -d '\(body)' \(first.url)/gates/app"
    #expect(try Program.shell(put).end == .exited(0))
    let before = try gate(first)
    // A response means that the gate is stored.
    first.child.kill(SIGKILL)
    _ = try first.child.wait()
    try "{}\n".write(toFile: file.path, atomically: true, encoding: .utf8)
    let second = try serve(file, data)
    #expect(try gate(second) == before)
    #expect(try gate(second, "lost")["code"]?.text == "notFound")
    func last() throws -> String? {
      try ServiceReader(second.url).get("/gates/lost/history")["history"]?.elements?.first?["to"]?.text
    }
    #expect(try eventually { try last() == "removed" })
    #expect(try Program.shell("curl -sf -X DELETE \(second.url)/gates/app").end == .exited(0))
    second.child.kill(SIGKILL)
    _ = try second.child.wait()
    let third = try serve(file, data)
    #expect(try gate(third)["code"]?.text == "notFound")
    #expect(try ServiceReader(third.url).get("/gates/app/uptime?window=1h")["seconds"]?["down"] != nil)
  }
}
