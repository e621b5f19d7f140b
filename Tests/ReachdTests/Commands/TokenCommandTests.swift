import Credentials
import Foundation
import StatusClient
import TestSupport
import Testing

/// Tokens from their making to their use.
@Suite struct TokenCommandTests {
  @Test func createdTokenIsAccepted() throws {
    let made = try Program.run(["token", "create", "--scope", "read", "--id", "grafana", "--expires", "90d"])
    #expect(made.end == .exited(0))
    let token = try #require(BearerToken(String(made.output.dropLast())))
    #expect(made.output == token.text + "\n")
    #expect(!made.errors.contains(token.text.suffix(64)), "the secret is shown once")
    let file = try TemporaryFile("access: {reads: token}\ntokens:\n" + made.errors)
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
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
