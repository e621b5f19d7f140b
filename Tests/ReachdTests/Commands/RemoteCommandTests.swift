import EmbeddedHTTPServer
import Foundation
import Logging
import TestSupport
import Testing

/// The commands that change a service's targets or follow its events.
@Suite struct RemoteCommandTests {
  /// The exit status and the output of `reachd targets` with the URL.
  private func targets(_ service: RunningService, _ arguments: String...) throws -> (
    end: Child.End, output: String, errors: String
  ) { try Program.run(["targets"] + arguments + ["--url", service.url]) }

  /// A service that accepts changes of targets from loopback clients.
  private func service(port: UInt16 = 0) throws -> (RunningService, TemporaryFile) {
    let file = try TemporaryFile("access: { checks: open }\n")
    return (try RunningService(listen: ["127.0.0.1:\(port)"], ["--config", file.path]), file)
  }

  @Test func targetIsAddedChangedAndRemoved() throws {
    let (service, _) = try service()
    let added = try targets(
      service, "add", "db", "route://127.0.0.1", "--interval", "1m", "--check-timeout", "2s", "--fall", "5", "--rise",
      "3",
      "--label", "env=prod", "--label", "team=a=b", "--paused")
    #expect(added.end == .exited(0), "\(added.errors)")
    #expect(added.output.hasPrefix("paused db route://127.0.0.1 since "), "\(added.output)")
    let list = try JSONValue(targets(service, "--json").output)
    let target = try #require(list["targets"]?.elements?.first)
    #expect(target["labels"]?["team"]?.text == "a=b" && target["labels"]?["env"]?.text == "prod")
    #expect(target["intervalSeconds"] == .number(60) && target["timeoutSeconds"] == .number(2))
    #expect(target["fall"] == .number(5) && target["rise"] == .number(3))
    let again = try targets(service, "add", "db", "route://127.0.0.1", "--paused")
    #expect(again.end == .exited(1))
    #expect(again.errors == "reachd: the target db exists; use --replace to change it\n")
    #expect(try targets(service, "add", "db", "route://127.0.0.1", "--replace").end == .exited(0))
    let missing = try targets(service, "rm", "db", "nosuch")
    #expect(missing.end == .exited(1))
    #expect(missing.errors == "reachd: no target has the id \"nosuch\"; see reachd targets\n")
    #expect(try targets(service, "list").output.isEmpty)
  }

  @Test(arguments: [
    (["add", "db"], "Missing expected argument '<target>'"), (["rm"], "Missing expected argument '<id> ...'"),
    (["add", "DB", "tcp://a:1"], "is not an id"), (["add", "db", "tcp://a"], "the port is missing"),
    (["add", "db", "tcp://a:1", "--interval", "5"], "interval must be a duration"),
    (["add", "db", "tcp://a:1", "--label", "x"], "--label must be NAME=VALUE, got \"x\""),
  ])
  func invalidTargetArgumentsExit64(arguments: [String], message: String) throws {
    let (end, output, errors) = try Program.run(["targets"] + arguments + ["--url", CommandTests.unused])
    #expect(end == .exited(64) && output.isEmpty)
    #expect(errors.contains(message), "\(errors)")
  }

  @Test func exportIsAValidConfiguration() throws {
    let text = """
      targets:
        - { id: db, target: "route://127.0.0.1", interval: 1m, fall: 5, paused: true, labels: { env: "a: 'b' #" } }
        - { id: way, target: "route://127.0.0.2" }

      """
    let file = try TemporaryFile(text)
    let service = try RunningService(["--config", file.path])
    let (end, output, errors) = try targets(service, "export")
    #expect(end == .exited(0), "\(errors)")
    let check = try Program.run(["config", "check", "--config", "/dev/stdin"], input: output)
    #expect(check.end == .exited(0), "\(check.errors)\n\(output)")
    let copy = try TemporaryFile(output)
    let second = try RunningService(["--config", copy.path])
    #expect(try targets(second, "export").output == output)
    for part in ["id: \"db\"", "interval: \"1m\"", "paused: true", "env"] {
      #expect(output.contains(part), "\(output)")
    }
    #expect(try Program.run(["targets", "export", "--url", CommandTests.unused]).end == .exited(2))
  }

  @Test func watchFollowsAService() throws {
    // No port that the connections of the watch can have themselves.
    let port = try Loopback.closedPort()
    let (service, _) = try service(port: port)
    let watch = try Program.start(["watch", "--url", service.url])
    #expect(eventually { watch.output.contains(#/^\d{4}-\d\d-\d\dT[0-9:.]+Z (reachable|notReachable) /#) })
    let host = try Program.start([
      "watch", "127.0.0.1", "--json", "--url", service.url, "--exec", "echo hook $REACHD_HOST",
    ])
    #expect(eventually { host.output.contains("hook 127.0.0.1\n") }, "\(host.errors)")
    let line = try #require(host.output.split(separator: "\n").first { $0.hasPrefix("{\"type\":\"host\"") })
    #expect(try JSONValue(String(line))["host"]?["status"]?.text == "reachable")
    host.kill()
    // The command reconnects, and ends with its signal only.
    try service.terminate()
    #expect(eventually { watch.errors.contains("reconnecting") }, "\(watch.errors)")
    let next = try RunningService(listen: ["127.0.0.1:\(port)"])
    let before = watch.output.split(separator: "\n").count
    #expect(eventually { watch.output.split(separator: "\n").count > before }, "\(watch.errors)")
    #expect(watch.poll() == nil)
    watch.kill()
    _ = next
  }

  @Test func watchReportsARefusedStream() throws {
    let service = try RunningService()
    let (end, output, errors) = try Program.run(["watch", "--url", service.url + "/nowhere"])
    #expect(end == .exited(2) && output.isEmpty)
    #expect(errors.contains("the service responded with 404: "), "\(errors)")
    #expect(try Program.run(["watch", "--url", CommandTests.unused]).end == .exited(2))
    #expect(try Program.run(["watch", "--settle", "1s", "--url", service.url]).end == .exited(64))
  }
}
