import Credentials
import Foundation
import NetworkReachability
import ReachabilityChecks
import Testing

@testable import HTTPRouting
@testable import Service

/// The tokens of a configuration and their limits.
@Suite struct TokenConfigurationTests {
  private static let digest = String(repeating: "ab", count: 32)

  @Test func tokenFieldsAreRead() throws {
    let configuration = try ConfigurationTests.load(
      """
      access: {reads: token, checks: open}
      tokens:
        - { id: grafana, sha256: "\(Self.digest)", scopes: [read, "targets:write"], expires: "2027-01-01T00:00:00Z" }
        - id: ops
          sha256: \(Self.digest.uppercased())
          scopes: admin
      """)
    #expect(configuration.access == .init(reads: .token, checks: .open))
    #expect(configuration.tokens.map(\.id) == ["grafana", "ops"])
    #expect(configuration.tokens.map(\.scopes) == [[.read, .targetsWrite], [.admin]])
    #expect(configuration.tokens.map(\.expires) == [Timestamp("2027-01-01"), nil])
    #expect(configuration.tokens.allSatisfy { $0.digest.hexadecimal == Self.digest })
  }

  @Test(arguments: [
    ("tokens: {id: a}", "FILE:1:9: tokens: a list is expected here; write - { id: …, sha256: …, "),
    ("tokens:\n - a", "FILE:2:4: tokens[0]: a mapping is expected here"),
    (
      "tokens:\n - { id: a, sha256: \(digest) }", "FILE:2:4: tokens[0]: scopes is missing; expected one or more of read"
    ),
    ("tokens:\n - { id: A, sha256: \(digest), scopes: [read] }", "FILE:2:10: tokens[0].id: \"A\" is invalid"),
    (
      "tokens:\n - { id: a, sha256: rx_a_b, scopes: [read] }",
      "FILE:2:21: tokens[0].sha256: the value is invalid; expect"
    ),
    ("tokens:\n - { id: a, sha256: \(digest), scopes: [all] }", "tokens[0].scopes: \"all\" is invalid; expected one"),
    (
      "tokens:\n - { id: a, sha256: \(digest), scopes: [] }", "tokens[0].scopes: an empty list is invalid; expected one"
    ),
    (
      "tokens:\n - { id: a, sha256: \(digest), scopes: [read], expires: soon }",
      "tokens[0].expires: \"soon\" is invalid"
    ),
    (
      "tokens:\n - { id: a, secret: x, sha256: \(digest), scopes: [read] }",
      "tokens[0].secret: unknown key; there are id"
    ),
    ("token: []", "FILE:1:1: token: unknown key; did you mean tokens?"),
    (
      "access: {reads: token}",
      "configuration: access.reads: no client could read: no token has the scope read; make one"
    ),
    ("tokensFile: /nonexistent/tokens", "/nonexistent/tokens: "),
  ])
  func invalidTokensAreReported(text: String, diagnostic: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics(text)
    #expect(diagnostics.count == 1)
    #expect(diagnostics.first?.contains(diagnostic) == true, "\(diagnostics)")
    #expect(!diagnostics.joined().contains("rx_a_b"), "a secret in the wrong place is not told on")
  }

  @Test func atMostTwoTokensShareAnID() throws {
    let line = " - { id: a, sha256: \(Self.digest), scopes: [read] }\n"
    #expect(try ConfigurationTests.diagnostics("tokens:\n" + line + line).isEmpty)
    #expect(try ConfigurationTests.diagnostics("tokens:\n" + line + line + line).first?.contains("3 times") == true)
  }

  @Test func tokensFileAddsTokens() throws {
    let line = "- { id: b, sha256: \(Self.digest), scopes: [read] }\n"
    let file = try ConfigurationTests.file(line)
    defer { try? FileManager.default.removeItem(atPath: file) }
    let text = "tokens:\n - { id: a, sha256: \(Self.digest), scopes: [check] }\ntokensFile: \(file)"
    #expect(try ConfigurationTests.load(text).tokens.map(\.id) == ["a", "b"])
    #expect(try ConfigurationTests.load(nil, ["REACHD_TOKENS_FILE": file]).tokens.map(\.id) == ["b"])
    let broken = try ConfigurationTests.file("- { id: b }")
    defer { try? FileManager.default.removeItem(atPath: broken) }
    #expect(
      try ConfigurationTests.diagnostics("tokensFile: \(broken)").allSatisfy {
        $0.hasPrefix("\(broken):1:3: tokens[0]")
      }
    )
  }

  @Test func theLimitsOfTokensAreRead() throws {
    func text(_ limits: String) -> String {
      "tokens: [{ id: ci, sha256: \(Self.digest), scopes: [check], limits: {\(limits)} }]\n"
    }
    let limits = try ConfigurationTests.load(text("targets: 5, minimumInterval: 10s, checksPerSecond: 3")).accountLimits
    #expect(
      limits == ["ci": [AccountLimits(targets: 5, minimumInterval: .seconds(10), checksPerSecond: 3)]])
    for (limits, location) in [
      ("targets: many", "tokens[0].limits.targets"), ("minimumInterval: 1ms", "tokens[0].limits.minimumInterval"),
      ("checksPerSecond: 0", "tokens[0].limits.checksPerSecond"),
      ("changesPerSecond: 0", "tokens[0].limits.changesPerSecond"), ("more: 1", "tokens[0].limits.more"),
    ] {
      let diagnostics = try ConfigurationTests.diagnostics(text(limits))
      #expect(diagnostics.count == 1 && diagnostics[0].contains(location), "\(diagnostics)")
    }
    let both = text("targets: 5") + "limits: {targets: 3}\n"
    #expect(try ConfigurationTests.load(both).scheduleLimits.targets == 3)
    let lines = [1, 2].map { "- {id: ci, sha256: \(Self.digest), scopes: [check], limits: {targets: \($0)}}\n" }
    let two = "tokens:\n" + lines.joined()
    let diagnostics = try ConfigurationTests.diagnostics(two)
    #expect(diagnostics.count == 1 && diagnostics[0].contains("different limits"), "\(diagnostics)")
  }
}
