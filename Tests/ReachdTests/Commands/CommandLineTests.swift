import EmbeddedHTTPServer
import Foundation
import TestSupport
import Testing

/// The conventions that all commands share: targets, durations, suggestions, completions, help and URLs.
@Suite struct CommandLineTests {
  static let commands = [
    [], ["serve"], ["status"], ["watch"], ["check"], ["wait"], ["targets"], ["targets", "list"], ["targets", "add"],
    ["targets", "rm"], ["targets", "export"], ["healthcheck"], ["config"], ["config", "check"], ["token"],
    ["token", "create"],
  ]

  @Test func bareTargetIsCheckedWithTCPOrICMP() throws {
    let service = try RunningService()
    let address = String(service.url.dropFirst("http://".count))
    #expect(try Program.run(["check", address]).output.hasPrefix("up tcp://\(address) "))
    #expect(try Program.run(["check", "[::1]:1"]).output.contains(" tcp://[::1]:1 "))
    for host in ["127.0.0.1", "::1", "[::1]"] {
      #expect(try Program.run(["check", host]).output.contains(" icmp://"), "\(host)")
    }
    // These are routes, not hosts.
    #expect(try Program.run(["check", "default"]).output.contains(" route://default"))
    for target in ["127.0.0.1/path", "http:/127.0.0.1"] {
      let (end, _, errors) = try Program.run(["check", target])
      #expect(end == .exited(64) && errors.contains("the target has no scheme"), "\(errors)")
    }
  }

  @Test func routeCheckReportsThatNothingWasSent() throws {
    let (end, output, _) = try Program.run(["check", "route://127.0.0.1"])
    #expect(end == .exited(0))
    #expect(output.hasPrefix("up route://127.0.0.1 ") && output.hasSuffix(" (no packet sent)\n"), "\(output)")
  }

  @Test func icmpCheckPrintsTheRoundTripTimes() throws {
    let (end, output, _) = try Program.run(["check", "icmp://127.0.0.1", "--count", "3"])
    // The state is unknown if the process may not open ICMP sockets.
    guard end == .exited(0) else { return #expect(end == .exited(2), "\(output)") }
    let pattern = #/ 3/3 replies, round trip min/avg/max [0-9.]+/[0-9.]+/[0-9.]+ ms\n$/#
    #expect(output.contains(pattern), "\(output)")
  }

  @Test(arguments: [
    ["status", "--timeout", "5"], ["status", "--timeout", "0s"], ["targets", "--timeout", "2h"],
    ["wait", "default", "--timeout", "5"], ["check", "tcp://a:1", "--timeout", "5"],
    ["token", "create", "--scope", "read", "--expires", "90"],
  ])
  func durationWithoutAUnitOrOutOfRangeIsRejected(arguments: [String]) throws {
    let (end, _, errors) = try Program.run(arguments)
    #expect(end == .exited(64))
    #expect(errors.contains(#/(--)?[a-z-]+ must be .*, such as [0-9]+[a-z]+.*, got "?[0-9]/#), "\(errors)")
  }

  @Test func everyDurationHasTheSameUnits() throws {
    let service = try RunningService()
    #expect(try Program.run(["targets", "--url", service.url, "--timeout", "5000ms"]).end == .exited(0))
    #expect(try Program.run(["wait", "127.0.0.1", "--timeout", "1m"]).end == .exited(0))
    for expiry in ["90d", "36h"] {
      #expect(try Program.run(["token", "create", "--scope", "read", "--expires", expiry]).end == .exited(0))
    }
  }

  @Test(arguments: [
    (["statsu"], "unknown command \"statsu\" (did you mean status?)"),
    (["config", "chekc"], "unknown command \"chekc\" (did you mean check?)"),
    (["token", "creat"], "unknown command \"creat\" (did you mean create?)"),
    (["status", "--jsno"], "Did you mean '--json'?"),
    (["nonsense"], "unknown command \"nonsense\"; see reachd --help"),
    (["token", "create", "--scope", "raed"], "unknown scope \"raed\" (did you mean read?)"),
  ])
  func unknownWordHasASuggestion(arguments: [String], message: String) throws {
    let (end, _, errors) = try Program.run(arguments)
    #expect(end == .exited(64))
    #expect(errors.contains(message), "\(errors)")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionsContainValues(shell: String) throws {
    let (_, output, _) = try Program.run(["--generate-completion-script", shell])
    for value in ["critical", "takeover", "both", "targets:write", "unreachable"] {
      // zsh escapes a colon.
      #expect(output.contains(value) || output.contains(value.replacing(":", with: "\\:")), "\(value)")
    }
  }

  @Test(arguments: commands)
  func helpFits80Columns(command: [String]) throws {
    let (end, output, _) = try Program.run(command + ["--help"], environment: ["COLUMNS": "80"])
    #expect(end == .exited(0))
    let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
    for line in lines where line.count > 80 { Issue.record("\(line)") }
    // A longer line of a paragraph is continued on a line of its own.
    for (line, next) in zip(lines, lines.dropFirst())
    where line.count < 20 && line.first?.isLowercase == true && next.first?.isLetter == true {
      Issue.record("\(line)")
    }
  }

  @Test(arguments: [
    ("ftp://host", "--url: unknown scheme \"ftp\"; expected http://, https:// or unix:/PATH"),
    ("host:8080", "--url: no scheme in \"host:8080\"; expected for example http://host:8080"),
    ("http://host:99999", "--url: the port must be an integer between 1 and 65535, got \"99999\""),
    ("http://[::1]:x/", "--url: the port must be an integer between 1 and 65535, got \"x\""),
    ("http://", "--url: no host in \"http://\""), ("unix:", "--url: no path in \"unix:\""),
    ("http://user:secret@host", "--url: the URL has user information; a token is sent with --token-file"),
    ("http://[::1", "--url: no pair of brackets in \"http://[::1\"; expected for example http://[::1]:8080"),
    ("http://host?x=1", "--url: \"http://host?x=1\" has a query or a fragment; expected for example http://host:8080"),
  ])
  func invalidURLIsNamed(url: String, message: String) throws {
    for command in ["status", "targets", "healthcheck", "watch"] {
      let (end, output, errors) = try Program.run([command, "--url", url])
      #expect(end == .exited(64) && output.isEmpty)
      #expect(errors.contains(message) && !errors.contains("secret"), "\(command): \(errors)")
    }
    let variable = try Program.run(["status"], environment: ["REACHD_URL": url])
    #expect(variable.end == .exited(2))
    #expect(variable.errors.contains(message.replacing("--url", with: "REACHD_URL")), "\(variable.errors)")
  }

  @Test func otherServerIsReported() throws {
    let server = HTTPServer(configuration: .init(address: .init(host: "127.0.0.1", port: 0))) { _ in
      .now(HTTPResponse(headers: ["Content-Type": "text/html"], body: .bytes(Array("<html>".utf8))))
    }
    try server.start()
    defer { server.stop() }
    let url = "http://\(server.boundAddress)"
    for command in [["status"], ["targets"], ["history"], ["top", "--once"], ["watch"]] {
      let (end, output, errors) = try Program.run(command + ["--url", url])
      #expect(end == .exited(2) && output.isEmpty)
      #expect(
        errors == """
          reachd: the response is not from reachd: status 200 text/html: <html>
          reachd: --url or REACHD_URL names another address

          """, "\(command)")
    }
    let (end, _, errors) = try Program.run(["healthcheck", "--url", url])
    #expect(end == .exited(1) && errors == "reachd: not ready (200): <html>\n")
    #expect(try Program.run(["healthcheck", "--json", "--url", url]).end == .exited(1))
  }

  @Test(arguments: [
    (["targets", "--since", "24x"], "window must be a duration"),
    (["targets", "--since", "9999-12", "--time-zone", "Asia/Tokyo"], "is not over in Asia/Tokyo"),
    (["targets", "--since", "24h", "--time-zone", "Asia/Tokyo"], "needs a month"),
    (["history", "--since", "x"], "since must be a time"),
    (["history", "--types", "x"], "unknown type \"x\""), (["targets", "rm", "overview"], "is not the id of a target"),
    (["targets", "explain", "../status"], "is not the id of a target"),
    (["targets", "add", "a", "b:1", "--fall", "0"], "--fall: fall cannot be 0; from 1 to 100"),
    (["targets", "add", "a", "b:1", "--interval", "99ms"], "--interval: interval cannot be 99ms; from 100ms to 24h"),
    (["targets", "add", "a", "b:1", "--label", "x=1", "--label", "x=2"], "--label \"x\" is given more than once"),
  ])
  func refusedValuesExit64(arguments: [String], message: String) throws {
    let directory = try TemporaryDirectory()
    let service = try RunningService(["--data", directory.path])
    let (end, output, errors) = try Program.run(arguments + ["--url", service.url])
    #expect(end == .exited(64) && output.isEmpty)
    #expect(errors.contains(message), "\(errors)")
  }

  @Test(arguments: [
    ["check", "127.0.0.1", "--count", "0"], ["check", "127.0.0.1", "--module", "x"], ["watch", "a..b"],
  ])
  func usageIsThatOfTheCommand(arguments: [String]) throws {
    let (end, _, errors) = try Program.run(arguments)
    #expect(end == .exited(64))
    #expect(errors.contains("See 'reachd \(arguments[0]) --help'"), "\(errors)")
  }

  @Test(arguments: ["", "# only a comment\n"])
  func emptyFileIsAnErrorForEveryCommand(text: String) throws {
    for command in [["config", "check"], ["serve", "--listen", "127.0.0.1:0"]] {
      let (end, _, errors) = try Program.run(command + ["--config", "/dev/stdin"], input: text)
      #expect(end == .exited(78))
      #expect(errors == "reachd: /dev/stdin: the file is empty; write {} for a file without settings\n")
    }
    #expect(try Program.run(["config", "check", "--config", "/dev/stdin"], input: "{}").end == .exited(0))
  }

  // MARK: - Output

  @Test func waitReportsItsTimeout() throws {
    let (end, _, errors) = try Program.run(["wait", "127.0.0.1", "10.0.0.9%nosuch", "--timeout", "50ms"])
    #expect(end == .exited(1))
    #expect(errors.hasPrefix("reachd: timeout after 50ms, pending: 1 of 2 targets\n"), "\(errors)")
  }

  @Test func waitPrintsJSON() throws {
    let routes = try Program.run(["wait", "127.0.0.1", "10.0.0.9%nosuch", "--timeout", "50ms", "--json"])
    #expect(routes.end == .exited(1))
    let document = try JSONValue(routes.output)
    #expect(document["fulfilled"] == .bool(false))
    let results = try #require(document["results"]?.elements)
    #expect(results.map { $0["target"]?.text } == ["route://127.0.0.1", "route://10.0.0.9%nosuch"])
    #expect(results.map { $0["fulfilled"] } == [.bool(true), .bool(false)])
    #expect(results.last?["host"]?["reason"]?.text == "unknownInterface", "\(routes.output)")
    let checks = try Program.run(["wait", "tcp://127.0.0.1:1", "--not", "--json"])
    #expect(checks.end == .exited(0))
    let down = try JSONValue(checks.output)
    #expect(down["fulfilled"] == .bool(true))
    #expect(down["results"]?.elements?.first?["check"]?["reason"]?.text == "refused", "\(checks.output)")
  }

  @Test func configCheckPrintsJSON() throws {
    let valid = try Program.run(["config", "check", "--json"])
    #expect(valid.end == .exited(0))
    #expect(valid.output == "{\"valid\":true,\"listen\":[\"127.0.0.1:8080\"],\"errors\":[],\"warnings\":[]}\n")
    let (end, output, errors) = try Program.run(
      ["config", "check", "--json", "--config", "/dev/stdin"], input: "log: { levle: info }")
    #expect(end == .exited(78) && errors.isEmpty)
    let document = try JSONValue(output)
    #expect(document["valid"] == .bool(false))
    let error = try #require(document["errors"]?.elements?.first)
    #expect(error["location"]?.text == "/dev/stdin:1:8" && error["path"]?.text == "log.levle")
    #expect(error["problem"]?.text == "unknown key" && error["hint"]?.text == "did you mean log.level?")
  }

  @Test func healthcheckPrintsJSON() throws {
    let service = try RunningService()
    let ready = try Program.run(["healthcheck", "--json", "--url", service.url])
    #expect(ready.end == .exited(0))
    #expect(try JSONValue(ready.output)["status"]?.text == "pass")
    let gone = try Program.run(["healthcheck", "--json", "--url", CommandTests.unused])
    #expect(gone.end == .exited(1))
    let document = try JSONValue(gone.output)
    #expect(document["status"]?.text == "fail")
    #expect(document["output"]?.text?.hasPrefix(CommandTests.unused) == true, "\(gone.output)")
  }
}
