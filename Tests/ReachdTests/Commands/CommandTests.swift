import Contract
import Foundation
import TestSupport
import Testing

@testable import Service

/// The built program, from outside: what it prints and how it ends.
@Suite struct CommandTests {
  /// No server listens on port 1 of the loopback address.
  static let unused = "http://127.0.0.1:1"

  @Test func versionMatchesOpenAPI() throws {
    let (end, output, _) = try Program.run(["--version"])
    #expect(end == .exited(0))
    #expect(
      output.wholeMatch(of: #/reachd ([0-9.]+) \(commit (unknown|[0-9a-f]{7,40}(-dirty)?)\)\n/#)?.1
        == ServiceVersion.current[...])
    let contract = String(decoding: Contract.bytes, as: UTF8.self)
    #expect(contract.contains("\n  version: \(ServiceVersion.current)\n"))
  }

  /// The last release in the changelog, and what is installed by its version.
  @Test func versionMatchesDocuments() throws {
    let root = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
    func text(_ path: String) throws -> String { try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8) }
    let version = ServiceVersion.current
    let released = try text("CHANGELOG.md").split(separator: "\n")
      .compactMap { $0.wholeMatch(of: #/## ([0-9.]+) — \d{4}-\d\d-\d\d/#)?.1 }
    #expect(released.first == version[...])
    #expect(Set(try text("Dockerfile").matches(of: #/image.version="([^"]+)"/#).map(\.1)) == [version[...]])
    for path in [
      "docs/how-to/swift.md", "Sources/NetworkReachability/NetworkReachability.docc/GettingStarted.md",
    ] {
      #expect(try text(path).contains(".upToNextMinor(from: \"\(version)\")"), "\(path)")
    }
  }

  @Test(arguments: [
    [], ["serve"], ["status"], ["watch"], ["check"], ["wait"], ["targets"], ["healthcheck"],
    ["config", "check"],
  ])
  func everyCommandHelpHasAnExample(command: [String]) throws {
    let (end, output, _) = try Program.run(command + ["--help"])
    #expect(end == .exited(0))
    #expect(output.contains("EXAMPLE"))
    #expect(output.contains("  reachd \(command.joined(separator: " "))"))
  }

  @Test(arguments: [
    ["serve", "--nonsense"], ["nonsense"], ["status", "--timeout", "0"], ["status", "--timeout", "soon"],
    ["status", "--direct", "--url", unused], ["watch", "http://example.com"], ["watch", "a:80"], ["watch", "fe80::1"],
    ["watch", "--settle"], ["config", "check", "extra"], ["healthcheck", "--nonsense"],
  ])
  func invalidArgumentsExit64(arguments: [String]) throws {
    let (end, output, errors) = try Program.run(arguments)
    #expect(end == .exited(64))
    #expect(output.isEmpty)
    #expect(errors.contains("Error: "), "\(errors)")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionsAreGeneratedForEveryShell(shell: String) throws {
    let (end, output, _) = try Program.run(["--generate-completion-script", shell])
    #expect(end == .exited(0))
    for word in ["serve", "status", "watch", "healthcheck", "config"] { #expect(output.contains(word)) }
  }

  @Test func configCheckConfirmsAValidFile() throws {
    let text = "listen: ['127.0.0.1:1', '[::1]:2']"
    let (end, output, errors) = try Program.run(["config", "check", "--config", "/dev/stdin"], input: text)
    #expect(end == .exited(0))
    #expect(output == "valid: reachd would listen on 127.0.0.1:1, [::1]:2\n")
    #expect(errors.isEmpty)
    #expect(try Program.run(["config", "check"]).end == .exited(0))
    #expect(try Program.run(["config", "check", "-c", "/dev/stdin"], input: text).end == .exited(0))
    let variable = ["REACHD_CONFIG": "/dev/stdin"]
    #expect(try Program.run(["config", "check"], environment: variable, input: text).output == output)
  }

  @Test(arguments: [["config", "check"], ["serve"], ["status"], ["watch"]])
  func invalidConfigurationExits78WithLocationAndHint(command: [String]) throws {
    let text = "log:\n  levle: info\nsettle: soon\n"
    let (end, output, errors) = try Program.run(command + ["--config", "/dev/stdin"], input: text)
    #expect(end == .exited(78))
    #expect(output.isEmpty)
    #expect(
      errors == """
        reachd: /dev/stdin:2:3: log.levle: unknown key; did you mean log.level?
        reachd: /dev/stdin:3:9: settle: "soon" is invalid; expected a duration from 0s to 1m, such as 500ms or 5s

        """)
  }

  @Test func invalidFlagIsNamed() throws {
    let (end, _, errors) = try Program.run(["serve", "--listen", "here"])
    #expect(end == .exited(78))
    #expect(errors.hasPrefix("reachd: --listen: \"here\" is invalid; expected an address with port"))
  }

  @Test func usedPortExits69WithAMessage() throws {
    let service = try RunningService()
    let address = String(service.url.dropFirst("http://".count))
    let (end, _, errors) = try Program.run(["serve", "--listen", "127.0.0.1:0", "--listen", address])
    #expect(end == .exited(69))
    #expect(errors.contains("reachd: bind \(address): another program, maybe reachd, uses the address"), "\(errors)")
    #expect(try Program.run(["serve", "--listen", "192.0.2.77:0"]).end == .exited(69))
    // Its interface may be there when a service manager starts it again.
    let early = try Program.run(["serve", "--listen", "[fe80::1%nosuch0]:0"])
    #expect(early.end == .exited(69))
    #expect(early.errors.contains("reachd: bind [fe80::1%nosuch0]:0: No such device\n"), "\(early.errors)")
  }

  @Test func statusPrintsTextOrJSONAndSetsTheExitStatus() throws {
    let service = try RunningService()
    #expect(try Program.run(["healthcheck", "--url", service.url]).end == .exited(0))
    let (end, line, errors) = try Program.run(["status", "--url", service.url])
    #expect(errors.isEmpty)
    #expect(end == .exited(line.hasPrefix("reachable ") ? 0 : 1))
    #expect(line.hasPrefix("reachable ") || line.hasPrefix("notReachable "))
    #expect(line.hasSuffix("\n") && !line.hasSuffix("\n\n"))
    let (sameEnd, json, _) = try Program.run(["status", "--json"], environment: ["REACHD_URL": service.url + "/"])
    let document = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    #expect(sameEnd == end)
    #expect(document?["status"] as? String == line.split(whereSeparator: \.isWhitespace).first.map(String.init))
    #expect(json.hasSuffix("}\n"))
  }

  @Test func clientUsesTheConfiguredAddress() throws {
    let service = try RunningService(listen: ["[::1]:0"])
    let address = String(service.url.dropFirst("http://".count))
    let environment = ["REACHD_LISTEN": address]
    #expect(try Program.run(["healthcheck"], environment: environment).end == .exited(0))
    let port = address.split(separator: ":").last ?? ""
    #expect(try Program.run(["healthcheck"], environment: ["REACHD_LISTEN": "[::]:\(port)"]).end == .exited(0))
  }

  @Test func withoutAServiceStatusExits2AndHealthcheck1() throws {
    let (end, output, errors) = try Program.run(["status", "--url", Self.unused])
    #expect(end == .exited(2))
    #expect(output.isEmpty)
    #expect(errors.contains("reachd: \(Self.unused)/status"))
    #expect(errors.contains("status --direct"))
    let health = try Program.run(["healthcheck", "--url", Self.unused])
    #expect(health.end == .exited(1))
    #expect(health.errors.hasPrefix("reachd: \(Self.unused)/readyz: "))
  }

  @Test func healthcheckExits0Or1Only() throws {
    for text in ["listen: nowhere", "listen: '127.0.0.1:1'", "x: ["] {
      #expect(try Program.run(["healthcheck", "--config", "/dev/stdin"], input: text).end == .exited(1))
    }
    #expect(try Program.run(["healthcheck", "--config", "/nonexistent"]).end == .exited(1))
    #expect(try Program.run(["healthcheck"], environment: ["REACHD_URL": "nonsense://x"]).end == .exited(1))
  }

  @Test func otherServerExits2() throws {
    let service = try RunningService()
    let (end, output, errors) = try Program.run(["status", "--url", service.url + "/elsewhere"])
    #expect(end == .exited(2))
    #expect(output.isEmpty)
    #expect(errors.contains("responded with 404"))
    #expect(try Program.run(["healthcheck", "--url", service.url + "/elsewhere"]).end == .exited(1))
  }

  @Test func directStatusNeedsNoService() throws {
    let (end, line, _) = try Program.run(["status", "--direct"])
    #expect([.exited(0), .exited(1)].contains(end))
    #expect(end == .exited(line.hasPrefix("reachable ") ? 0 : 1))
    let (_, json, _) = try Program.run(["status", "--direct", "--json"])
    let document = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    #expect((document?["interfaces"] as? [Any])?.isEmpty == false)
  }

  @Test func configCheckReportsUnknownVariables() throws {
    let (end, output, errors) = try Program.run(["config", "check"], environment: ["REACHD_ACCESS_READ": "token"])
    #expect(end == .exited(0))
    #expect(output.hasPrefix("valid: "))
    #expect(errors.contains("REACHD_ACCESS_READ (did you mean REACHD_ACCESS_READS?)"), "\(errors)")
  }
}
