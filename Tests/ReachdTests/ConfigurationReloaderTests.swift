import Foundation
import Glibc
import Probers
import TestSupport
import Testing

/// SIGHUP: what changes, what waits for a restart, and what is wrong.
@Suite struct ConfigurationReloaderTests {
  @Test func reloadChangesTheLogSettings() throws {
    let reloadable = try ReloadableService("log: { level: notice }\n")
    let service = reloadable.service
    _ = try reloadable.get("/status?first")
    #expect(!service.child.errors.contains("target=\"/status"))
    try reloadable.reload("log: { level: notice, access: true }\n")
    _ = try reloadable.get("/status?second")
    #expect(eventually { service.child.errors.contains("info request") && service.child.errors.contains("second") })
    #expect(!service.child.errors.contains("/status?first"))
    try reloadable.reload("log: { level: info, format: json, access: true }\n")
    _ = try reloadable.get("/hosts/10.0.0.9")
    #expect(eventually { service.child.errors.contains("\"route\":\"/hosts/{host}\"") })
    #expect(eventually { service.child.errors.contains("\"message\":\"configuration reloaded\"") })
    try reloadable.reload("log: { level: info, format: json }\n")
    _ = try reloadable.get("/hosts/10.0.0.10")
    #expect(try reloadable.get("/readyz?verbose").text.contains("[+] configuration ok\n"))
    #expect(try service.terminate() == .exited(0))
    #expect(!service.child.errors.contains("10.0.0.10"))
  }

  @Test func invalidReloadChangesNothingAndIsReported() throws {
    let reloadable = try ReloadableService("resolver: { timeout: 3s }\n")
    let service = reloadable.service
    #expect(try eventually { try reloadable.get("/readyz").status == 200 })
    try reloadable.reload("log: { access: true }\nsettle: soon\nnonsense: 1\n")
    #expect(try reloadable.total("failure") == 1)
    #expect(try reloadable.number("reachd_configuration_last_reload_successful") == 0)
    // One valid setting among invalid ones is not applied either.
    _ = try reloadable.get("/livez?unlogged")
    let shown = try reloadable.get("/readyz?verbose")
    #expect(shown.status == 200 && shown.text.contains("[!] configuration the reload of "))
    #expect(!shown.text.contains(reloadable.path), "the path of the file is not disclosed")
    for word in ["\(reloadable.path):2:", "settle", "\(reloadable.path):3:", "nonsense"] {
      #expect(eventually { service.child.errors.contains(word) }, "\(word)")
    }
    try reloadable.reload("settle: 20ms\n")
    #expect(try reloadable.number("reachd_configuration_last_reload_successful") == 1)
    #expect(try reloadable.get("/readyz?verbose").text.contains("[+] configuration ok\n"))
    try FileManager.default.removeItem(atPath: reloadable.path)
    service.child.kill(SIGHUP)
    #expect(try eventually { try reloadable.total("failure") == 2 })
    #expect(try service.terminate() == .exited(0))
    #expect(!service.child.errors.contains("unlogged"))
  }

  @Test func emptyFileIsRejectedOnReload() throws {
    let reloadable = try ReloadableService("targets: [{ id: db, target: 'tcp://10.0.0.9:5432' }]\n")
    try reloadable.reload("")
    #expect(try reloadable.total("failure") == 1)
    #expect(try reloadable.get("/targets/db").status == 200)
    #expect(eventually { reloadable.service.child.errors.contains("the file is empty") })
    try reloadable.reload("{}\n")
    #expect(try reloadable.total("success") == 1)
    #expect(try reloadable.get("/targets/db").status == 404)
  }

  @Test func settingsThatNeedARestartAreReported() throws {
    let reloadable = try ReloadableService("settle: 10ms\n")
    try reloadable.reload("settle: 30ms\nlimits: { connections: 500 }\nresolver: { servers: [127.0.0.1:1] }\n")
    #expect(try reloadable.number("reachd_configuration_pending_settings") == 2)
    let waiting = "[!] configuration settings that need a restart: limits.connections, resolver.servers\n"
    #expect(try eventually { try reloadable.get("/readyz?verbose").text.contains(waiting) })
    #expect(eventually { reloadable.service.child.errors.contains("settings need a restart") })
    #expect(eventually { reloadable.service.child.errors.contains("configuration reloaded changed=settle") })
    // After the change is undone, nothing waits for a restart.
    try reloadable.reload("settle: 40ms\n")
    #expect(try reloadable.number("reachd_configuration_pending_settings") == 0)
    #expect(eventually { reloadable.service.child.errors.components(separatedBy: "changed=settle\n").count == 3 })
  }

  @Test func reloadLogsConfigurationWarnings() throws {
    let file = try TemporaryFile("settle: 10ms\n")
    defer { withExtendedLifetime(file) {} }
    let service = try RunningService(["--config", file.path], environment: ["REACHD_SETLE": "1s"])
    let child = service.child
    #expect(eventually { child.errors.contains("unknown environment variable REACHD_SETLE") })
    let digest = String(repeating: "0", count: 64)
    let text = """
      grace: 1s
      access: { reads: token }
      tokens: [{ id: a, sha256: "\(digest)", scopes: [read], expires: "2020-01-01" }]
      """
    try text.write(toFile: file.path, atomically: true, encoding: .utf8)
    child.kill(SIGHUP)
    for warning in [
      "drainDelay is 2s and is reduced to 500ms, so that requests are completed within the grace of 1s",
      "no client can read: every token with the scope read has expired",
    ] {
      #expect(eventually { child.errors.contains(warning) }, "\(child.errors)")
    }
    #expect(eventually { child.errors.components(separatedBy: "variable REACHD_SETLE").count == 3 })
  }

  @Test func reloadChangesTheStreamLimit() throws {
    let reloadable = try ReloadableService("limits: { streams: 100 }\n")
    #expect(try reloadable.get("/status").status == 200)
    let stream = try Child("/bin/sh", ["-c", "exec curl -sN '\(reloadable.service.url)/events'"])
    #expect(eventually { stream.output.contains("event: snapshot") })
    try reloadable.reload("limits: { streams: 1 }\n")
    #expect(try eventually { try reloadable.get("/events").status == 503 })
    #expect(stream.poll() == nil, "a stream that is open stays open")
    stream.kill()
  }
}
