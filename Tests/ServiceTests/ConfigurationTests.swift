import Foundation
import Logging
import EmbeddedHTTPServer
import NetworkReachability
import Testing

@testable import Service

@Suite struct ConfigurationTests {
  /// A configuration file, for the caller to remove.
  static func file(_ text: String) throws -> String {
    let url = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString).yaml")
    try text.write(to: url, atomically: true, encoding: .utf8)
    return url.path
  }

  static func load(
    _ text: String? = nil, _ environment: [String: String] = [:],
    flags: [(path: String, flag: String, texts: [String])] = []
  ) throws -> Configuration {
    let path = try text.map { try file($0) }
    defer { if let path { try? FileManager.default.removeItem(atPath: path) } }
    return try ConfigurationSources(file: path, environment: environment, flags: flags).load()
  }

  /// The errors, without the file's name in their locations.
  static func diagnostics(_ text: String? = nil, _ environment: [String: String] = [:]) throws -> [String] {
    let path = try text.map { try file($0) }
    defer { if let path { try? FileManager.default.removeItem(atPath: path) } }
    do throws(ConfigurationErrors) {
      _ = try ConfigurationSources(file: path, environment: environment).load()
      return []
    } catch {
      return error.errors.map { $0.description.replacing(path ?? "?", with: "FILE") }
    }
  }

  @Test func emptyConfigurationHasDefaults() throws {
    let configuration = try Self.load()
    #expect(configuration.listen == [ListenAddress(host: "127.0.0.1", port: 8080)])
    #expect(configuration.logLevel == .info)
    #expect(configuration.logFormat == .text)
    #expect(configuration.settle == .milliseconds(10))
    for empty in ["{}", "log: {}\nlimits: {}\n"] {
      #expect(try Self.load(empty).listen == configuration.listen)
    }
  }

  @Test(arguments: [
    "access", "tls", "log", "limits", "policy", "targets", "modules", "tokens", "interfaces", "resolver",
  ])
  func emptySectionIsRejected(key: String) throws {
    for text in ["\(key):\n", "settle: 1s\n\(key): # reads: token\n", "\(key): null", "\(key): ~"] {
      let diagnostics = try Self.diagnostics(text)
      #expect(
        diagnostics.count == 1 && diagnostics[0].contains(": \(key): missing value; leave the key out"), "\(text)")
    }
  }

  @Test(arguments: ["*.internal", "*", "a/b", "a:80", ""])
  func invalidAllowedHostIsRejected(name: String) throws {
    #expect(try Self.diagnostics("allowedHosts: ['\(name)']").first?.contains("allowedHosts") == true)
  }

  @Test func interfaceOverridesAreAListOfMappings() throws {
    let list = "  - {match: 'usb*', type: wwan, expensive: true}\n  - match: sat0\n    constrained: ${YES}\n"
    #expect(
      try Self.load("interfaces:\n" + list, ["YES": "true"]).interfaces == [
        InterfaceOverride(match: "usb*", type: .wwan, isExpensive: true),
        InterfaceOverride(match: "sat0", isConstrained: true),
      ])
    #expect(try Self.load("interfaces: []").interfaces == [])
  }

  @Test func flagOverridesEnvironmentOverridesFile() throws {
    let text = "settle: 1s\nlog: {level: error}\ngrace: 1s"
    let environment = ["REACHD_SETTLE": "2s", "REACHD_LOG_LEVEL": "debug"]
    let configuration = try Self.load(text, environment, flags: [("settle", "--settle", ["3s"])])
    #expect(configuration.settle == .seconds(3))
    #expect(configuration.logLevel == .debug)
    #expect(configuration.grace == .seconds(1))
  }

  @Test func emptyVariablesAndAbsentFlagsAreIgnored() throws {
    let configuration = try Self.load(
      "settle: 1s", ["REACHD_SETTLE": "", "REACHD_CONFIG": ""], flags: [("settle", "--settle", [])])
    #expect(configuration.settle == .seconds(1))
  }

  @Test func configFlagOverridesItsVariable() throws {
    let one = try Self.file("settle: 1s")
    let two = try Self.file("settle: 2s")
    defer { for path in [one, two] { try? FileManager.default.removeItem(atPath: path) } }
    #expect(try ConfigurationSources(environment: ["REACHD_CONFIG": one]).load().settle == .seconds(1))
    #expect(try ConfigurationSources(file: two, environment: ["REACHD_CONFIG": one]).load().settle == .seconds(2))
  }

  @Test func variableNamesFollowSettingPaths() {
    let names = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.path, $0.variable) })
    #expect(names["listen"] == "REACHD_LISTEN")
    #expect(names["log.level"] == "REACHD_LOG_LEVEL")
    #expect(names["drainDelay"] == "REACHD_DRAIN_DELAY")
    #expect(names["limits.requestBody"] == "REACHD_LIMITS_REQUEST_BODY")
    #expect(Set(names.values).count == Setting.all.count)
  }

  @Test func environmentListsAreCommaSeparated() throws {
    let configuration = try Self.load(
      nil, ["REACHD_LISTEN": "127.0.0.1:1, [::1]:2", "REACHD_ALLOWED_HOSTS": "a.example,b.example"])
    #expect(configuration.listen.map(\.description) == ["127.0.0.1:1", "[::1]:2"])
    #expect(configuration.allowedHosts == ["a.example", "b.example"])
  }

  @Test func singleValueIsAListInTheFile() throws {
    #expect(try Self.load("listen: '[::1]:0'").listen.map(\.description) == ["[::1]:0"])
    #expect(try Self.load("listen: [127.0.0.1:1, 'localhost:2']").listen.map(\.port) == [1, 2])
  }

  @Test(arguments: [
    ("lisen: [127.0.0.1:1]", "FILE:1:1: lisen: unknown key; did you mean listen?"),
    ("\n\nlog:\n  levle: info", "FILE:4:3: log.levle: unknown key; did you mean log.level?"),
    (
      "log: {format: text, color: always}",
      "FILE:1:21: log.color: unknown key; there are log.access, log.format, log.level"
    ),
    ("log.level: debug", "FILE:1:1: log.level: a key has no dots; write it as a mapping in a mapping"),
    ("acess: { reads: open }", "FILE:1:1: acess: unknown key; did you mean access?"),
    ("nonsense: 1", "FILE:1:1: nonsense: unknown key; there are access, allowedHosts, allowedOrigins, data, "),
    ("interfaces:\n- match: usb0\n  typ: wwan", "FILE:3:3: interfaces[0].typ: unknown key; did you mean type?"),
    ("interfaces:\n- match: usb0\n  type: lte", "FILE:3:9: interfaces[0].type: \"lte\" is invalid; expected one of"),
    ("interfaces:\n- expensive: yes\n  match: a", "FILE:2:14: interfaces[0].expensive: \"yes\" is invalid; expect"),
    ("interfaces:\n- type: wwan", "FILE:2:3: interfaces[0]: match is missing; expected an interface's name"),
    ("settle:\n  a: 1", "FILE:2:3: settle: not a text value; expected a duration"),
    ("settle: [1s]", "FILE:1:9: settle: not a text value; expected a duration"),
    ("settle:", "FILE:1:8: settle: not a text value; expected a duration"),
    ("log: info", "FILE:1:6: log: a mapping is expected here; write key: value"),
    ("- listen", "FILE:1:1: a mapping is expected here; write key: value"),
    (
      "settle: soon",
      "FILE:1:9: settle: \"soon\" is invalid; expected a duration from 0s to 1m, such as"
    ),
    ("listen: []", "FILE:1:9: listen: an empty list is invalid; expected an address with port"),
    ("listen:\n - 127.0.0.1:1\n - here", "FILE:2:2: listen: \"127.0.0.1:1\", \"here\" is invalid; expected an"),
    ("settle: 1s\nsettle: 2s", "FILE:2:1: the key 'settle' is given twice: first on line 1, again here"),
    ("settle: 1s\n---\nsettle: 2s", "FILE:2:1: a second document begins here"),
    ("settle: *x", "FILE:1:9: aliases are not supported"), ("a: [", "FILE:"),
    ("settle: ${NOWHERE}", "FILE:1:9: settle: "),
    ("settle: ${NOWHERE}", "the environment has no variable \"NOWHERE\"; set it, or write $$ for a $"),
    ("settle: ${A", "FILE:1:9: settle: ${ without }"), ("\tsettle: 1s", "FILE:1:"),
  ])
  func errorIsReportedWithLocationAndHint(text: String, diagnostic: String) throws {
    let diagnostics = try Self.diagnostics(text)
    #expect(diagnostics.count == 1)
    #expect(diagnostics.first?.contains(diagnostic) == true, "\(diagnostics)")
  }

  @Test func allErrorsAreReported() throws {
    let diagnostics = try Self.diagnostics(
      "lisen: x\nsettle: soon\nlog: {level: loud, format: xml}\n", ["REACHD_GRACE": "long", "REACHD_LISTEN": "here"])
    #expect(diagnostics.count == 6)
    for part in [
      "lisen", "settle", "log.level", "log.format", "REACHD_GRACE: \"long\"", "REACHD_LISTEN:",
    ] {
      #expect(diagnostics.contains { $0.contains(part) }, "\(part)")
    }
  }

  @Test func variablesAreSubstitutedInValues() throws {
    let environment = ["HOST": "::1", "PORT": "7", "EMPTY": ""]
    #expect(try Self.load("listen: '[${HOST}]:${PORT}${EMPTY}'", environment).listen[0].description == "[::1]:7")
    #expect(
      try Self.load("allowedHosts: ['a$$b', 'a$b', '$${PORT}', '$$$$']").allowedHosts == [
        "a$b", "a$b", "${PORT}", "$$",
      ])
  }

  @Test(arguments: ["/nonexistent/reachd.yaml", "/"])
  func unreadableFileIsReported(path: String) {
    #expect {
      try ConfigurationSources(file: path, environment: [:]).load()
    } throws: { error in
      "\(error)".hasPrefix("\(path): ") && "\(error)".count > path.count + 5
    }
  }

  @Test func sampleFileShowsEveryDefault() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "examples/reachd.yaml").path
    let sample = try ConfigurationSources(file: path, environment: [:]).load()
    let plain = Configuration()
    #expect(sample.listen == plain.listen)
    #expect((sample.logLevel, sample.logFormat) == (plain.logLevel, plain.logFormat))
    #expect((sample.settle, sample.drainDelay, sample.grace) == (plain.settle, plain.drainDelay, plain.grace))
    #expect((sample.allowedHosts, sample.nameServers) == (plain.allowedHosts, plain.nameServers))
    #expect(sample.resolverTimeout == plain.resolverTimeout)
    let server = HTTPServerConfiguration(address: Configuration.defaultListen)
    #expect(sample.streams == plain.streams)
    #expect(sample.streamLimit == server.streamLimit)
    #expect(sample.requestBodyLimit == server.requestBodyLimit)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for path in Setting.all.map(\.path) + ListSetting.all.map(\.path) {
      let key = path.split(separator: ".").last ?? ""
      // A setting whose default cannot be written is a comment.
      #expect(["\n", "\n  ", "\n# ", "\n  # ", "\n#   "].contains { text.contains("\($0)\(key):") }, "\(path)")
    }
  }
}
