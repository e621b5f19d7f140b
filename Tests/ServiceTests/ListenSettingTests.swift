import Foundation
import Glibc
import HostProcess
import EmbeddedHTTPServer
import StatusAPI
import TestSupport
import Testing

@testable import HTTPRouting
@testable import Service

/// The options of an address stay, also when another source sets the addresses.
@Suite struct ListenSettingTests {
  private static let token =
    "tokens: [{ id: a, sha256: \"\(String(repeating: "0", count: 64))\", scopes: [read] }]\n"
  private static let guarded = "listen: [{ address: '127.0.0.1:1', reads: token }]\n" + token

  @Test(arguments: [["REACHD_LISTEN": "127.0.0.1:1"], [:]])
  func overriddenAddressKeepsTheRulesOfTheFile(environment: [String: String]) throws {
    let flags = environment.isEmpty ? [("listen", "--listen", ["127.0.0.1:1"])] : []
    let configuration = try ConfigurationTests.load(Self.guarded, environment, flags: flags)
    #expect(configuration.listeners.map(\.reads) == [.token])
    #expect(configuration.warnings([:]).isEmpty)
  }

  @Test func rulesOfAnOverriddenAddressAreAnError() throws {
    let diagnostics = try ConfigurationTests.diagnostics(Self.guarded, ["REACHD_LISTEN": "127.0.0.1:2"])
    #expect(diagnostics.count == 1 && diagnostics[0].contains("omits 127.0.0.1:1, for which the file has rules"))
    #expect(try ConfigurationTests.load("listen: '127.0.0.1:1'", ["REACHD_LISTEN": "127.0.0.1:2"]).warnings([:]) == [])
  }

  @Test func defaultListenVariableAppliesWithoutOtherSources() throws {
    let usual = ["REACHD_DEFAULT_LISTEN": "0.0.0.0:8080"]
    #expect(try ConfigurationTests.load(nil, usual).listen.map(\.description) == ["0.0.0.0:8080"])
    #expect(try ConfigurationTests.load(Self.guarded, usual).listeners.map(\.reads) == [.token])
    let both = usual.merging(["REACHD_LISTEN": "127.0.0.1:2"]) { $1 }
    #expect(try ConfigurationTests.load(nil, both).listen.map(\.description) == ["127.0.0.1:2"])
    #expect(try ConfigurationTests.load(nil, usual).warnings(usual) == [])
    let wrong = try ConfigurationTests.diagnostics("settle: 1s", ["REACHD_DEFAULT_LISTEN": "here"])
    #expect(wrong.count == 1 && wrong[0].hasPrefix("REACHD_DEFAULT_LISTEN: "))
  }

  @Test func expiredCertificatesCauseWarnings() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let script = """
      cd '\(directory)' && certtool --generate-privkey --key-type ecdsa --outfile k.pem && printf '%s\\n' 'cn = x' \
      'signing_key' 'activation_date = "2020-01-01 00:00:00 UTC"' 'expiration_date = "2021-01-01 00:00:00 UTC"' > t && \
      certtool --generate-self-signed --load-privkey k.pem --template t --outfile c.pem
      """
    #expect(try Child("/bin/sh", ["-c", script]).wait() == .exited(0))
    let files = "certificate: '\(directory)/c.pem', key: '\(directory)/k.pem'"
    let configuration = try ConfigurationTests.load("listen: ['127.0.0.1:1']\ntls: { \(files) }")
    #expect(configuration.warnings([:]).count == 1)
    #expect(configuration.warnings([:])[0].hasSuffix("c.pem ended at 2021-01-01T00:00:00.000000Z"))
  }

  @Test func addressSpellingIsNormalized() throws {
    let file = "listen: [{ address: '[0::1]:1', reads: token }]\n" + Self.token
    let configuration = try ConfigurationTests.load(file, ["REACHD_LISTEN": "[0:0:0:0:0:0:0:1]:1"])
    #expect(configuration.listeners.map(\.reads) == [.token] && configuration.listen.map(\.description) == ["[::1]:1"])
    #expect(try ConfigurationTests.diagnostics("listen: ['[::1]:1', '[0::1]:1']").count == 1)
    let both = try ConfigurationTests.diagnostics("listen: ['0.0.0.0:1', '[::]:1']")
    #expect(both == ["configuration: listen: [::]:1 is for IPv4, too; leave 0.0.0.0:1 out"])
  }

  @Test(arguments: [
    (["0.0.0.0:81", "127.0.0.1:81"], ["0.0.0.0:81 is for every IPv4 address; leave 127.0.0.1:81 out"]),
    (["[::]:81", "127.0.0.1:81"], ["[::]:81 is for IPv4, too; leave 127.0.0.1:81 out"]),
    (["[::1]:81", "[::]:81"], ["[::]:81 is for every IPv6 address; leave [::1]:81 out"]),
    (["[::]:81", "unix:/run/a", "127.0.0.1:82", "0.0.0.0:83", "[::1]:83", "0.0.0.0:0", "127.0.0.1:0"], []),
  ])
  func wildcardAddressConflictsWithOthers(addresses: [String], expected: [String]) throws {
    let list = addresses.map { "'\($0)'" }.joined(separator: ", ")
    #expect(
      try ConfigurationTests.diagnostics("listen: [\(list)]") == expected.map { "configuration: listen: \($0)" })
  }

  @Test(arguments: ["listen: [{ address: '127.0.0.1:2', reads: token }]\n", "listen: ['127.0.0.1:1']\n"])
  func reloadKeepsTheRulesOfEachAddress(listen: String) throws {
    let path = try ConfigurationTests.file(Self.guarded)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let sources = ConfigurationSources(file: path, environment: [:])
    let started = try sources.load()
    try (listen + Self.token).write(toFile: path, atomically: true, encoding: .utf8)
    let fresh = try sources.load(following: started)
    #expect(fresh.listeners == started.listeners)
    #expect(fresh.assigned["listen"] != started.assigned["listen"], "it is told that this waits for a restart")
    // Without the token no client could read there.
    try listen.replacing("reads: token", with: "reads: open").write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: ConfigurationErrors.self) { try sources.load(following: started) }
  }

  @Test func duplicateAddressIsAnError() throws {
    let twice = try ConfigurationTests.diagnostics("listen: ['127.0.0.1:1', '127.0.0.1:1']")
    #expect(twice == ["configuration: listen: 127.0.0.1:1 is listed 2 times; leave all but one out"])
    #expect(try ConfigurationTests.diagnostics("listen: ['127.0.0.1:0', '127.0.0.1:0']") == [])
  }

  @Test(arguments: [
    "settle: ${SECRET}", "modules: { m: { prober: http, headers: { A: \"${SECRET}\" } } }",
    "modules: { m: { prober: http, expectBody: \"${SECRET}\" } }",
  ])
  func variableContentsAreNotShown(text: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics(text, ["SECRET": "s3cr3t(\n"])
    #expect(diagnostics.count == 1)
    #expect(diagnostics.allSatisfy { $0.contains("${SECRET}") && !$0.contains("s3cr3t") }, "\(diagnostics)")
  }

  @Test func errorCountIsLimited() throws {
    let text = (0..<1000).map { "key\($0)\(String(repeating: "x", count: 300)): 1\n" }.joined()
    let errors = ConfigurationErrors(
      errors: try ConfigurationTests.diagnostics(text).map { ConfigurationError(location: "FILE", problem: $0) })
    #expect(errors.errors.count == 1000 && errors.lines.count == 101)
    #expect(errors.lines.last == "and 900 more")
    #expect(errors.lines.allSatisfy { $0.utf8.count < 2000 })
  }

  @Test func reloadDoesNotBlockOnAPipe() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString)").path
    #expect(unsafe mkfifo(path, 0o600) == 0)
    defer { unsafe unlink(path) }
    #expect(throws: FileReadError(path: path, reason: "not a regular file")) {
      try FileReader.bytes(of: path, limit: 10, blocking: false)
    }
  }
}
