import Logging
import EmbeddedHTTPServer
import TestSupport
import Testing

/// `reachd targets` with a service, and with servers that are not reachd.
@Suite struct TargetsCommandTests {
  private func list(_ url: String, _ arguments: String...) throws -> (end: Child.End, lines: [String], errors: String) {
    let (end, output, errors) = try Program.run(["targets", "--url", url] + arguments)
    return (end, output.split(separator: "\n").map(String.init), errors)
  }

  @Test func linePerTargetAndWorstStateSetsTheExitStatus() throws {
    let reloadable = try ReloadableService(
      """
      targets:
        - { id: db, target: "tcp://127.0.0.1:1", labels: { env: prod } }
        - { id: rest, target: "tcp://127.0.0.1:1", paused: true, labels: { env: prod, why: "a b,&=" } }
        - { id: way, target: "route://127.0.0.1" }
      """)
    let url = reloadable.service.url
    #expect(try eventually { try list(url).end == .exited(1) && list(url, "--state", "up").lines.count == 1 })
    let all = try list(url).lines.map { $0.split(separator: " since ") }
    #expect(
      all.map(\.first) == [
        "down db tcp://127.0.0.1:1 refused", "paused rest tcp://127.0.0.1:1", "up way route://127.0.0.1",
      ])
    #expect(all.allSatisfy { $0.last?.wholeMatch(of: /[0-9-]+T[0-9:]+\.[0-9]{6}Z/) != nil })
    let text = try Program.shell("curl -s -H 'Accept: text/plain' '\(url)/targets'").output
    #expect(try list(url).lines == text.split(separator: "\n").map(String.init), "the text of the service")
    #expect(try list(url, "--state", "up,paused").end == .exited(0))
    #expect(try list(url, "--state", "unreachable") == (.exited(0), [], ""))
    #expect(try list(url, "--label", "env=prod,why").lines.count == 1)
    #expect(try list(url, "--label", "why=a b").lines.isEmpty)
    let document = try JSONValue(list(url, "--json", "--label", "env").lines.joined())
    #expect(document["targets"]?.elements?.map { $0["id"]?.text } == ["db", "rest"])
  }

  @Test func dependenciesAreRegisteredListedAndRemoved() throws {
    let reloadable = try ReloadableService(
      """
      targets:
        - { id: router, target: "tcp://127.0.0.1:1", interval: 1s, timeout: 500ms, fastInterval: 100ms }
        - { id: shop, target: "tcp://127.0.0.1:1", interval: 1s, timeout: 500ms, dependsOn: [router] }
      policy: { allow: [127.0.0.0/8] }
      """)
    let url = reloadable.service.url
    func run(_ arguments: String...) throws -> (end: Child.End, output: String, errors: String) {
      try Program.run(["targets"] + arguments + ["--url", url])
    }
    let made = try run("add", "own", "tcp://127.0.0.1:1", "--depends-on", "router|shop", "--depends-on", "shop")
    #expect(made.end == .exited(0), "\(made.errors)")
    #expect(try run("export").output.contains(#"dependsOn: [{ anyOf: ["router", "shop"] }, "shop"]"#))
    let refused = try run("add", "bad", "tcp://127.0.0.1:1", "--depends-on", "roter")
    #expect(refused.end == .exited(1) && refused.errors.contains(#"there is no target "roter""#), "\(refused.errors)")
    let wrong = try run("add", "bad", "tcp://127.0.0.1:1", "--depends-on", "A")
    #expect(wrong.end == .exited(64) && wrong.errors.contains("--depends-on: "), "\(wrong.errors)")
    #expect(try eventually { try list(url).lines.count { $0.contains(" dependencyDown router since ") } == 2 })
    let tree = try list(url, "--tree").lines.map { $0.prefix { $0 == " " }.count }
    #expect(tree == [0, 2, 2])
    #expect(try list(url, "--tree").lines.first?.hasPrefix("down router ") == true)
    #expect(try list(url, "--tree", "--json").end == .exited(64))
    _ = try run("add", "base", "tcp://127.0.0.1:1")
    _ = try run("add", "own", "tcp://127.0.0.1:1", "--depends-on", "base", "--replace")
    #expect(try run("rm", "base").errors.contains("targets depend on base: own"))
    #expect(try run("rm", "base", "--force").end == .exited(0))
  }

  @Test func stateIsExplained() throws {
    let reloadable = try ReloadableService("targets: [{ id: db, target: 'tcp://127.0.0.1:1' }]\n")
    let url = reloadable.service.url
    #expect(try eventually { try list(url).end == .exited(1) })
    let (end, output, _) = try Program.run(["targets", "explain", "db", "--url", url])
    #expect(end == .exited(0))
    #expect(output.hasPrefix("tcp://127.0.0.1:1 is down: refused\n  ok   link     lo is up\n"), "\(output)")
    let document = try JSONValue(Program.run(["targets", "explain", "db", "--json", "--url", url]).output)
    #expect(document["answer"]?["step"]?.text == "tcp")
    let (other, _, errors) = try Program.run(["targets", "explain", "none", "--url", url])
    #expect(other == .exited(1) && errors.hasPrefix("reachd: no target has the id \"none\""), "\(errors)")
  }

  @Test func allPagesAreRead() throws {
    let targets = (10_000..<12_001).map { "  - { id: t\($0), target: 'route://127.0.0.1', paused: true }\n" }
    let reloadable = try ReloadableService("targets:\n" + targets.joined())
    let (end, lines, _) = try list(reloadable.service.url)
    #expect(end == .exited(0))
    #expect(lines.map { $0.split(separator: " ")[1] } == (10_000..<12_001).map { "t\($0)" })
    let pages = try list(reloadable.service.url, "--json").lines.map { try JSONValue($0) }
    #expect(pages.map { $0["targets"]?.elements?.count } == [1000, 1000, 1])
  }

  @Test func serviceErrorIsPrinted() throws {
    let service = try RunningService()
    let (end, lines, errors) = try list(service.url, "--state", "gone")
    #expect(end == .exited(64) && lines.isEmpty)
    #expect(errors.hasPrefix("reachd: the service responded with 400: unknown state \"gone\""))
  }

  @Test func failedConnectionHasHint() throws {
    let hint = "reachd: is the service running there? --url or REACHD_URL names another address\n"
    for command in [["targets"], ["history"], ["watch"], ["status"], ["top", "--once"]] {
      let (end, _, errors) = try Program.run(command + ["--url", "http://127.0.0.1:1"])
      #expect(end == .exited(2))
      #expect(errors.contains(hint), "\(command): \(errors)")
    }
  }

  @Test(arguments: ["env:prod", "", "env=prod,,team", "=prod"])
  func invalidLabelSelectorIsRejected(_ selector: String) throws {
    let (end, _, errors) = try list("http://127.0.0.1:1", "--label", selector)
    #expect(end == .exited(64))
    #expect(errors.contains("--label must be a list of NAME=VALUE or NAME"), "\(errors)")
  }

  @Test func unknownTargetIsNamed() throws {
    let service = try RunningService()
    for command in [["targets", "rm", "nope"], ["targets", "explain", "nope"]] {
      let (end, _, errors) = try Program.run(command + ["--url", service.url])
      #expect(end == .exited(1))
      #expect(errors == "reachd: no target has the id \"nope\"; see reachd targets\n")
    }
  }

  @Test(arguments: ["<h1>Bad gateway</h1>", "{}", "[]", #"{"targets": [{"id": "db"}], "next": null}"#])
  func invalidAnswerIsRejected(body: String) throws {
    let other = HTTPServer(
      configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)),
      handler: { _ in .now(HTTPResponse(body: .bytes(Array(body.utf8)))) },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try other.start()
    defer { other.stop() }
    #expect(try list("http://\(other.boundAddress)").end == .exited(2))
  }
}
