import Foundation
import NetworkReachability
import Testing

@testable import Service

/// The sections `targets` and `policy` of the file.
@Suite struct CheckConfigurationTests {
  @Test func missingSectionsMeanNoTargetsAndDefaultPolicy() throws {
    for text in ["{}", "targets: []\nmodules: {}\npolicy: {}\n"] {
      let configuration = try ConfigurationTests.load(text)
      #expect(configuration.targets.isEmpty && configuration.modules.isEmpty)
      #expect(configuration.contactPolicy == ContactPolicy())
    }
  }

  @Test func everyTargetFieldIsRead() throws {
    let text = """
      targets:
        - id: db
          target: tcp://${HOST}:5432
          module: greet
          interval: 10s
          timeout: 2s
          fastInterval: 500ms
          fall: 5
          rise: 1
          labels: { env: prod, "team": "${TEAM}" }
          paused: true
        - { id: way, target: "route://10.0.0.1" }
      modules: { greet: { prober: tcp, send: hello } }
      """
    let targets = try ConfigurationTests.load(text, ["HOST": "10.9.0.1", "TEAM": "x"]).targets
    #expect(
      targets == [
        TargetDefinition(
          id: "db", target: try CheckTarget("tcp://10.9.0.1:5432"),
          module: CheckModule(name: "greet", options: .tcp(TCPOptions(send: "hello"))),
          labels: ["env": "prod", "team": "x"], interval: .seconds(10), timeout: .seconds(2),
          fastInterval: .milliseconds(500), fall: 5, rise: 1, isPaused: true),
        TargetDefinition(id: "way", target: try CheckTarget("route://10.0.0.1")),
      ])
  }

  @Test func targetMayNameALaterModule() throws {
    let text = "targets: [{id: a, target: 'http://a/', module: m}]\nmodules: {m: {prober: http, method: HEAD}}"
    #expect(try ConfigurationTests.load(text).targets.first?.module.name == "m")
  }

  @Test(arguments: [
    ("targets: db", "FILE:1:10: targets: a list is expected here; write - { id: db, target: \"tcp://db:5432\" }"),
    ("targets: [db]", "FILE:1:11: targets[0]: a mapping is expected here; write key: value"),
    (
      "targets:\n- target: tcp://a:1",
      "FILE:2:3: targets[0].id: the id is missing; an id has 1 to 68 characters of a-z"
    ),
    ("targets:\n- {id: A, target: 'tcp://a:1'}", "FILE:2:8: targets[0].id: \"A\" is not an id"),
    ("targets:\n- id: a\n", "FILE:2:3: targets[0].target: the target is missing; write something like"),
    ("targets:\n- id: a\n  target: tcp://a", "FILE:3:11: targets[0].target: the port is missing"),
    ("targets:\n- id: a\n  target: [x]", "FILE:3:11: targets[0].target: not a text value; expected a target such as"),
    ("targets:\n- id: a\n  target:\n", "FILE:3:10: targets[0].target: not a text value"),
    (
      "targets:\n- id: a\n  target: tcp://a:1\n  module: no",
      "FILE:4:11: targets[0].module: unknown module \"no\"; expected one of tcp_connect"
    ),
    (
      "targets:\n- id: a\n  target: tcp://a:1\n  module: icmp",
      "FILE:4:11: targets[0].module: the module icmp does not fit"
    ),
    ("targets:\n- id: a\n  target: tcp://a:1\n  interval: soon", "FILE:4:13: targets[0].interval: \"soon\" is invalid"),
    ("targets:\n- id: a\n  target: tcp://a:1\n  interval: 1ms", "FILE:4:13: targets[0].interval: interval cannot be"),
    (
      "targets:\n- id: a\n  target: tcp://a:1\n  interval: 5s\n  timeout: 5s",
      "FILE:5:12: targets[0].timeout: a timeout of 5s does not end before the interval of 5s"
    ),
    ("targets:\n- id: a\n  target: tcp://a:1\n  fastInterval: 1m", "FILE:4:17: targets[0].fastInterval: a fast"),
    (
      "targets:\n- id: a\n  target: tcp://a:1\n  fall: 0",
      "FILE:4:9: targets[0].fall: \"0\" is invalid; expected an i"
    ),
    ("targets:\n- id: a\n  target: tcp://a:1\n  rise: two", "FILE:4:9: targets[0].rise: \"two\" is invalid"),
    ("targets:\n- id: a\n  target: tcp://a:1\n  paused: yes", "FILE:4:11: targets[0].paused: \"yes\" is invalid"),
    ("targets:\n- id: a\n  target: tcp://a:1\n  labels: [x]", "FILE:4:11: targets[0].labels: a mapping is expected"),
    (
      "targets:\n- id: a\n  target: tcp://a:1\n  labels: {x y: z}",
      "FILE:4:17: targets[0].labels: \"x y\" is not a label name"
    ),
    ("targets:\n- id: a\n  target: tcp://a:1\n  labels: {x: [z]}", "FILE:4:15: targets[0].labels.x: not a text value"),
    (
      "targets:\n- id: a\n  target: tcp://a:1\n  tiemout: 1s", "FILE:4:3: targets[0].tiemout: unknown key; did you mean"
    ),
    ("targets:\n- id: a\n  target: tcp://a:1\n  proxy: b", "FILE:4:3: targets[0].proxy: unknown key; there are id, "),
    ("targets:\n- id: a\n  target: 'tcp://${NO}:1'", "FILE:3:11: targets[0].target: the environment has no variable"),
    (
      "targets:\n- {id: a, target: 'tcp://a:1'}\n- {id: b, target: 'tcp://b:1'}\n- {id: a, target: 'tcp://c:1'}",
      "FILE:4:8: targets[2].id: a is given twice; the first is on line 2"
    ),
    ("target: []", "FILE:1:1: target: unknown key; did you mean targets?"),
    ("policy: strict", "FILE:1:9: policy: a mapping is expected here"),
    ("policy: {profile: lax}", "FILE:1:19: policy.profile: \"lax\" is invalid; expected one of default, strict"),
    ("policy: {allow: 10.0.0.0/8}", "FILE:1:17: policy.allow: a list is expected here; write [\"10.0.0.0/8\""),
    ("policy: {allow: [10.0.0.0/33]}", "FILE:1:18: policy.allow: \"10.0.0.0/33\" is invalid; expected an address"),
    ("policy: {deny: [db.internal]}", "FILE:1:17: policy.deny: \"db.internal\" is invalid"),
    ("policy: {deny: ['10.0.0.0/8/8']}", "FILE:1:17: policy.deny: "), ("policy: {deny: ['/8']}", "policy.deny: "),
    ("policy: {denny: []}", "FILE:1:10: policy.denny: unknown key; did you mean deny?"),
  ])
  func errorIsReportedWithItsLocation(text: String, diagnostic: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics(text)
    #expect(diagnostics.count == 1, "\(diagnostics)")
    #expect(diagnostics.first?.contains(diagnostic) == true, "\(diagnostics)")
  }

  @Test func dependenciesAreRead() throws {
    let text = """
      targets:
        - { id: shop, target: "tcp://10.0.0.3:1", dependsOn: [core, { anyOf: [isp-a, "${ISP}"] }] }
        - { id: core, target: "tcp://10.0.0.1:1" }
        - { id: isp-a, target: "tcp://10.0.0.2:1", dependsOn: [] }
        - { id: isp-b, target: "tcp://10.0.0.2:2" }
      """
    let targets = try ConfigurationTests.load(text, ["ISP": "isp-b"]).targets
    #expect(targets.first?.dependsOn == [TargetDependency("core"), TargetDependency(anyOf: ["isp-a", "isp-b"])])
    #expect(targets.dropFirst().allSatisfy { $0.dependsOn.isEmpty })
  }

  @Test(arguments: [
    (
      "core", "FILE:3:43: targets[1].dependsOn: a list is expected here; write [core-router, { anyOf: [isp-a, isp-b] }]"
    ),
    ("[[core]]", "FILE:3:44: targets[1].dependsOn[0]: not a text value; expected the id of a target"),
    ("[{ any: [core] }]", "targets[1].dependsOn[0].any: unknown key; did you mean anyOf?"),
    ("[{ anyOf: core }]", "targets[1].dependsOn[0].anyOf: a list is expected here"),
    ("[{ anyOf: [[core]] }]", "targets[1].dependsOn[0].anyOf: not a text value; expected the id of a target"),
    ("[{ anyOf: [] }]", "targets[1].dependsOn: anyOf has 0 targets; from 1 to 8"),
    ("[{ anyOf: [1, 2, 3, 4, 5, 6, 7, 8, 9] }]", "targets[1].dependsOn: anyOf has 9 targets"),
    ("[Core]", "targets[1].dependsOn: \"Core\" is not an id of a target"),
    ("[a]", "FILE:3:43: targets[1].dependsOn: a depends on itself; name other targets"),
    ("[core, core]", "targets[1].dependsOn: an entry is repeated; write it once"),
    ("[{ anyOf: [core, core] }]", "targets[1].dependsOn: anyOf names a target twice"),
    ("[cor]", "FILE:3:43: targets[1].dependsOn: there is no target \"cor\" to depend on; did you mean core?"),
    ("[elsewhere]", "targets[1].dependsOn: there is no target \"elsewhere\" to depend on; targets of the"),
    ("[loop]", "FILE:3:43: targets[1].dependsOn: a → loop → a is a cycle; remove one of these dependencies"),
    ("[c7]", "FILE:3:43: targets[1].dependsOn: more than 8 targets depend on each other in succession"),
    ("[\"${NO}\"]", "FILE:3:44: targets[1].dependsOn[0]: the environment has no variable"),
  ])
  func dependencyErrorIsReportedWithItsLocation(dependsOn: String, diagnostic: String) throws {
    let chain = (0..<8).map { number in
      "- {id: c\(number), target: 'tcp://a:1', dependsOn: [\(number == 0 ? "core" : "c\(number - 1)")]}\n"
    }
    let text =
      "targets:\n- {id: core, target: 'tcp://a:1'}\n- {id: a, target: 'tcp://a:1', dependsOn: \(dependsOn)}\n"
      + "- {id: loop, target: 'tcp://a:1', dependsOn: [\(dependsOn == "[loop]" ? "a" : "core")]}\n"
      + (dependsOn == "[c7]" ? chain.joined() : chain.prefix(7).joined())
    let diagnostics = try ConfigurationTests.diagnostics(text)
    #expect(diagnostics.contains { $0.contains(diagnostic) }, "\(diagnostics)")
  }

  @Test func everyInvalidTargetIsReported() throws {
    let text = "targets:\n- {id: A, target: 'tcp://a'}\n- {id: b, target: 'tcp://b:1', fall: x}\n- {id: c}\n"
    let diagnostics = try ConfigurationTests.diagnostics(text)
    for location in ["FILE:2:8: targets[0].id", "FILE:2:19: targets[0].target", "FILE:3:38: targets[1].fall"] {
      #expect(diagnostics.contains { $0.hasPrefix(location) }, "\(location) in \(diagnostics)")
    }
    #expect(diagnostics.count == 4)
  }

  @Test func targetCountIsLimited() throws {
    func text(_ count: Int) -> String {
      "targets:\n" + (0..<count).map { "- {id: t\($0), target: 'route://10.0.0.1'}\n" }.joined()
    }
    #expect(try ConfigurationTests.load(text(10_000)).targets.count == 10_000)
    let diagnostics = try ConfigurationTests.diagnostics(text(10_001))
    #expect(diagnostics.count == 1 && diagnostics[0].contains("there are 10001 targets, and limits.targets is 10000"))
    #expect(try ConfigurationTests.load("limits: {targets: 10001}\n" + text(10_001)).targets.count == 10_001)
  }

  @Test func policyIsRead() throws {
    let text = "policy: {profile: strict, allow: [10.0.0.0/8, '::1'], deny: [10.1.2.3, 2001:db8::/32]}"
    let policy = try ConfigurationTests.load(text).contactPolicy
    #expect(policy.profile == .strict)
    let own = try #require(IPAddress("10.200.0.1"))
    let denied = try #require(IPAddress("10.1.2.3"))
    #expect(policy.allows(own, port: 80) && !policy.allows(denied, port: 80))
    #expect(policy.allow.map(\.description) == ["10.0.0.0/8", "::1/128"])
    #expect(policy.deny.map(\.description) == ["10.1.2.3/32", "2001:db8::/32"])
  }

  // MARK: - Examples of the documentation

  private static func lines(of path: String) throws -> [Substring] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func documentedExampleIsValid() throws {
    let block = try Self.lines(of: "docs/reference/targets.md").drop { $0 != "targets:" }.prefix { $0 != "```" }
    let configuration = try ConfigurationTests.load(block.joined(separator: "\n"))
    #expect(configuration.targets.map(\.id) == ["db", "site"] && configuration.modules.map(\.name) == ["api"])
  }

  @Test func sampleFileExamplesAreValid() throws {
    let lines = try Self.lines(of: "examples/reachd.yaml")
    let text = CheckConfiguration.keys.flatMap { key in
      lines.drop { $0 != "#   \(key):" }.prefix { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
    }
    let configuration = try ConfigurationTests.load(text.joined(separator: "\n"), ["TOKEN": "x"])
    #expect(configuration.targets.map(\.id) == ["db", "site", "router"] && configuration.modules.count == 6)
    for key in CheckConfiguration.keys { #expect(lines.contains { $0.hasPrefix("\(key):") }, "\(key)") }
  }
}
