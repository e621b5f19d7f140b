import Foundation
import TestSupport
import Testing

@testable import StatusAPI

/// What the commands make of arguments: of empty ones, of strange ones, and of those that only the file explains.
@Suite struct CommandArgumentTests {
  @Test(arguments: [
    ["config", "check"], ["serve"], ["status"], ["status", "--direct"], ["watch"], ["check", "tcp://127.0.0.1:1"],
  ])
  func emptyConfigPathIsAnError(command: [String]) throws {
    let file = try TemporaryFile("settle: 1s")
    let (end, output, errors) = try Program.run(command + ["--config", ""], environment: ["REACHD_CONFIG": file.path])
    #expect(end == .exited(78))
    #expect(output.isEmpty)
    #expect(errors == "reachd: --config: the path is empty; omit the flag for no file\n")
  }

  @Test(arguments: ["--url", "--cacert", "--token-file"])
  func emptyClientOptionIsAnError(option: String) throws {
    for command in ["status", "targets", "healthcheck"] {
      let (end, output, errors) = try Program.run([command, option, ""])
      #expect(end == .exited(64))
      #expect(output.isEmpty)
      #expect(errors.contains("Error: \(option) is empty; omit it\n"), "\(errors)")
    }
    // An empty variable counts as unset.
    let variables = ["REACHD_URL": "", "REACHD_CACERT": "", "REACHD_TOKEN_FILE": ""]
    let service = try RunningService()
    #expect(try Program.run(["targets", "--url", service.url], environment: variables).end == .exited(0))
  }

  @Test func directStatusUsesTheConfiguration() throws {
    let text = "interfaces: [{ match: '*', expensive: true, constrained: true }]"
    let file = try TemporaryFile(text)
    let (_, plain, _) = try Program.run(["status", "--direct", "--json"])
    #expect(plain.contains("\"isExpensive\":false"), "\(plain)")
    for (flags, variables) in [(["--config", file.path], [:]), ([], ["REACHD_CONFIG": file.path])] {
      let (_, json, errors) = try Program.run(["status", "--direct", "--json"] + flags, environment: variables)
      #expect(json.contains("\"isExpensive\":true") && errors.isEmpty, "\(json)")
    }
    let wrong = try Program.run(["status", "--direct"], environment: ["REACHD_SETTLE": "soon"])
    #expect(wrong.end == .exited(78))
    #expect(wrong.errors.hasPrefix("reachd: REACHD_SETTLE: \"soon\" is invalid"), "\(wrong.errors)")
  }

  @Test func modulesOfTheFileAreAccepted() throws {
    let file = try TemporaryFile("modules: { icmp: { prober: icmp, spacing: 10ms } }")
    let arguments = ["check", "icmp://127.0.0.1", "--count", "60"]
    // With the built-in module, echo requests are 100 ms apart.
    let refused = try Program.run(arguments)
    #expect(refused.end == .exited(64))
    #expect(refused.errors.contains("60 echo requests, one every 100ms, exceed the timeout of 5s"), "\(refused.errors)")
    let (end, output, errors) = try Program.run(arguments + ["--config", file.path])
    // Where ICMP is forbidden this cannot be tested.
    #expect([.exited(0), .exited(2)].contains(end), "\(errors)")
    #expect(output.contains("icmp://127.0.0.1"), "\(output)")
  }

  @Test func argumentErrorsAreReportedBeforeReadingTheFile() throws {
    for arguments in [["check", "ftp://a"], ["check", "tcp://a:1", "--timeout", "soon"], ["wait", "tcp://a"]] {
      #expect(try Program.run(arguments + ["--config", "/nonexistent"]).end == .exited(64))
    }
  }

  @Test(arguments: [
    ["check", "tcp://\u{1b}[31mno\nreachd: valid"], ["wait", "tcp://\u{1b}[31mno\nreachd: valid"],
    ["watch", "\u{1b}[31mno\nreachd: valid"], ["check", "tcp://a:1", "--module", "\u{1b}[31m\nreachd: valid"],
    ["\u{1b}[31mno\nreachd: valid"], ["status", "--\u{1b}[31mno\nreachd: valid"],
    ["status", "--timeout", "\u{1b}[31mno\nreachd: valid"], ["status", "--url", "\u{1b}[31mno\nreachd: valid"],
    ["token", "create", "--scope", "\u{1b}[31mno\nreachd: valid"],
    ["config", "check", "--config", "/\u{1b}[31mno\nreachd: valid"],
    ["serve", "--listen", "unix:/nonexistent/\u{1b}[31mno\nreachd: valid"],
  ])
  func controlCharactersInArgumentsAreEscaped(arguments: [String]) throws {
    let (end, output, errors) = try Program.run(arguments)
    #expect(end != .exited(0))
    #expect(output.isEmpty)
    #expect(!errors.contains("\u{1b}") && !errors.contains("\nreachd: valid"), "\(errors.debugDescription)")
    #expect(errors.hasSuffix("\n") && !errors.hasSuffix("\n\n"))
  }

  @Test func controlCharactersInKeysAreEscaped() throws {
    let key = #""\e[31mno\nreachd: valid""#
    for text in [
      "\(key): 1", "log: { \(key): 1 }", "modules: { \(key): { prober: tcp } }", "modules: { m: { \(key): 1 } }",
      "targets: [{ \(key): 1 }]", "targets: [{ id: a, target: 'tcp://a:1', labels: { \(key): 1 } }]",
      "modules: { m: { prober: http, headers: { \(key): 1 } } }", "interfaces: [{ \(key): 1 }]",
    ] {
      let (end, output, errors) = try Program.run(["config", "check", "--config", "/dev/stdin"], input: text)
      #expect(end == .exited(78) && output.isEmpty)
      #expect(!errors.contains("\u{1b}") && !errors.contains("\nreachd: valid"), "\(errors.debugDescription)")
    }
  }

  @Test func healthcheckWithTooFewDescriptorsExits1() throws {
    #expect(try Program.shell("ulimit -n 32; exec reachd healthcheck").end == .exited(1))
    #expect(try Program.shell("ulimit -n 32; exec reachd status").end == .exited(69))
  }

  @Test func waitReportsOnlyUnmetTargetsInOrder() throws {
    let gone = ["10.0.0.9%nosuch3", "10.0.0.9%nosuch1", "10.0.0.9%nosuch2", "10.0.0.9%nosuch4"]
    let routes = try Program.run(["wait", "127.0.0.1"] + gone + ["--timeout", "50ms"])
    #expect(routes.end == .exited(1))
    let lines = routes.errors.split(separator: "\n")
    #expect(lines.first == "reachd: timeout after 50ms, pending: 4 of 5 targets")
    #expect(lines.count == gone.count + 1, "\(routes.errors)")
    for (line, target) in zip(lines.dropFirst(), gone) {
      #expect(line.hasPrefix("reachd: \(target): "), "\(routes.errors)")
    }
    let checks = try Program.run(
      ["wait", "tcp://127.0.0.1:2", "route://127.0.0.1", "tcp://127.0.0.1:1", "--timeout", "50ms"])
    #expect(checks.end == .exited(1))
    let causes = checks.errors.split(separator: "\n").dropFirst()
    #expect(causes.count == 2 && causes.first?.hasPrefix("reachd: down tcp://127.0.0.1:2 ") == true, "\(causes)")
    // `--not` waits while the target is reachable.
    let negated = try Program.run(["wait", "127.0.0.1", gone[0], "--not", "--timeout", "50ms"])
    #expect(negated.end == .exited(1))
    let obstacles = negated.errors.split(separator: "\n").dropFirst()
    #expect(obstacles.count == 1 && obstacles.first?.hasPrefix("reachd: 127.0.0.1: ") == true, "\(obstacles)")
  }
}
