import Credentials
import Foundation
import NetworkReachability
import Probers
import StatusAPI
import StatusClient
import TestSupport
import Testing

@testable import HTTPRouting
@testable import Service

/// Tokens from their making to their use.
@Suite struct TokenCommandTests {
  private static let digest = String(repeating: "ab", count: 32)

  // MARK: - In the configuration file

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

  // MARK: - On the command line

  @Test func createdTokenIsAccepted() throws {
    let made = try Program.run(["token", "create", "--scope", "read", "--id", "grafana", "--expires", "90d"])
    #expect(made.end == .exited(0))
    let token = try #require(BearerToken(String(made.output.dropLast())))
    #expect(made.output == token.text + "\n")
    #expect(!made.errors.contains(token.text.suffix(64)), "the secret is shown once")
    let file = try ConfigurationTests.file("access: {reads: token}\ntokens:\n" + made.errors)
    defer { try? FileManager.default.removeItem(atPath: file) }
    let service = try RunningService(["--drain-delay", "0s", "--config", file])
    func status(_ headers: [String: String]) throws -> Int {
      try HTTPClient.get(url: service.url + "/status", headers: headers, timeout: .seconds(20), maximumBody: 1 << 20)
        .status
    }
    #expect(try status([:]) == 401)
    #expect(try status(["Authorization": "Bearer \(token.text)"]) == 200)
    let other = token.text.hasSuffix("0") ? "1" : "0"
    #expect(try status(["Authorization": "Bearer \(token.text.dropLast())\(other)"]) == 401)
    #expect(!service.child.errors.contains(token.text.suffix(64)))
  }

  @Test(arguments: [
    [], ["--scope", "all"], ["--scope", "read", "--id", "A"], ["--scope", "read", "--expires", "soon"],
    ["--scope", "read", "--expires", "2001-01-01"], ["--scope", "read", "--expires", "0d"],
  ])
  func invalidTokenOptionsExit64(arguments: [String]) throws {
    let made = try Program.run(["token", "create"] + arguments)
    #expect(made.end == .exited(64))
    #expect(made.output.isEmpty)
  }

  // MARK: - In a secret file

  @Test(arguments: ["022", "000", "377"]) func aTokenGoesIntoAFileThatOnlyItsOwnerReads(umask: String) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString).token").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (end, output, errors) = try Program.shell(
      "umask \(umask); exec reachd token create --scope read --id grafana --output \(path)")
    #expect(end == .exited(0) && errors.isEmpty, "errors must not get into a file that receives the line")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(BearerToken(text.trimmingCharacters(in: .newlines))?.id == "grafana" && text.hasSuffix("\n"))
    #expect(output.contains("sha256:") && !output.contains(text.dropLast(1)))
    #expect(try Program.shell("stat -c %a \(path)").output == "600\n")
  }

  @Test func anExistingFileIsLeftAlone() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString).token").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let link = path + ".link"
    for line in ["echo kept > \(path)", "chmod 644 \(path); ln -s /nonexistent/x \(link)"] {
      _ = try Program.shell(line)
    }
    defer { try? FileManager.default.removeItem(atPath: link) }
    for file in [path, link] {
      let (end, output, errors) = try Program.run(["token", "create", "--scope", "read", "--output", file])
      #expect(end == .exited(73) && output.isEmpty)
      #expect(errors == "reachd: \(file): the file exists; remove it, or name another one\n")
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept\n")
    let (end, output, errors) = try Program.run(["token", "create", "--scope", "read", "--output", "/nonexistent/x"])
    #expect(end == .exited(73) && output.isEmpty && errors == "reachd: /nonexistent/x: No such file or directory\n")
  }
}
