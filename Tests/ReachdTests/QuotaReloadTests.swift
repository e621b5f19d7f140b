import TestSupport
import Testing

/// The limits of targets and checks in the configuration, at the start and with SIGHUP.
@Suite struct QuotaReloadTests {
  private func ask(_ service: RunningService, _ path: String, _ options: String = "") throws -> JSONValue {
    let (end, output, errors) = try Program.shell("curl -s \(options) '\(service.url)\(path)'")
    guard end == .exited(0) else { throw TestError("curl: \(end) \(errors)") }
    return try JSONValue(output)
  }

  private func put(_ service: RunningService, _ id: String, interval: String = "1h") throws -> JSONValue {
    let body = "{\"target\": \"route://127.0.0.1\", \"interval\": \"\(interval)\"}"
    return try ask(service, "/targets/\(id)", "-X PUT -H 'Content-Type: application/json' -d '\(body)'")
  }

  private func file(_ limits: String, _ ids: [String]) -> String {
    "limits: {\(limits)}\ntargets:\n" + ids.map { "  - { id: \($0), target: 'route://127.0.0.1' }\n" }.joined()
  }

  @Test func aReloadThatDoesNotFitIsRefusedAsAWhole() throws {
    let reloadable = try ReloadableService(file("targets: 4", ["one"]))
    let service = reloadable.service
    for id in ["a", "b", "c"] { #expect(try put(service, id)["id"]?.text == id) }
    #expect(try put(service, "d")["code"]?.text == "quotaExceeded")
    try reloadable.reload("settle: 50ms\n" + file("targets: 4", ["two", "three"]))
    #expect(try reloadable.total("failure") == 1)
    #expect(try reloadable.number("reachd_configuration_last_reload_successful") == 0)
    let ids = try ask(service, "/targets")["targets"]?.elements?.compactMap { $0["id"]?.text }
    #expect(ids == ["a", "b", "c", "one"], "the old configuration stays in force")
    #expect(try reloadable.get("/readyz?verbose").text.contains("failed"))
    var line: Substring?
    eventually {
      line = service.child.errors.split(separator: "\n").first { $0.contains("configuration not reloaded") }
      return line != nil
    }
    #expect(line?.contains(" error ") == true && line?.contains("limits.targets") == true, "\(line ?? "no line")")
    // Its reservation is released, and a limit raised by the same file applies.
    #expect(try ask(service, "/targets/a/pause", "-X POST")["state"]?.text == "paused")
    try reloadable.reload(file("targets: 5", ["two", "three"]))
    #expect(try reloadable.total("success") == 1)
    #expect(try put(service, "d")["code"]?.text == "quotaExceeded")
    // A caller's target that the file takes over needs no capacity; a lower limit removes nothing.
    try reloadable.reload(file("targets: 5", ["two", "three", "a"]))
    try reloadable.reload(file("targets: 3", ["two", "three", "a"]))
    #expect(try reloadable.total("success") == 3)
    #expect(try ask(service, "/targets")["targets"]?.elements?.count == 5)
    #expect(try put(service, "d")["code"]?.text == "quotaExceeded")
  }

  @Test func aRateThatTheFileExceedsRefusesTheStart() throws {
    let fast = "{ id: a, target: 'route://127.0.0.1', interval: 100ms }"
    let file = try TemporaryFile("limits: {checksPerSecond: 9}\ntargets: [\(fast)]\n")
    let (end, _, errors) = try Program.run(["serve", "--listen", "127.0.0.1:0", "--config", file.path])
    #expect(end == .exited(78) && errors.contains("limits.checksPerSecond"), "\(end) \(errors)")
  }
}
