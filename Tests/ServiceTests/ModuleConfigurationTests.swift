import Foundation
import NetworkReachability
import TestSupport
import Testing

@testable import Service

/// The section `modules` of the file.
@Suite struct ModuleConfigurationTests {
  private func modules(_ text: String, _ environment: [String: String] = [:]) throws -> [String: CheckModule] {
    let modules = try ConfigurationTests.load("modules:\n" + text, environment).modules
    return Dictionary(uniqueKeysWithValues: modules.map { ($0.name, $0) })
  }

  @Test func moduleWithoutFieldsHasDefaults() throws {
    let modules = try modules(
      ["route", "tcp", "icmp", "http", "tls", "dns"].map { "  \($0): {prober: \($0)}\n" }.joined())
    #expect(modules["route"] == CheckModule(name: "route", options: .route))
    #expect(modules["tcp"] == CheckModule(name: "tcp", options: .tcp(TCPOptions())))
    #expect(modules["icmp"] == CheckModule(name: "icmp", options: .icmp(ICMPOptions())))
    #expect(modules["http"] == CheckModule(name: "http", options: .http(HTTPOptions())))
    #expect(modules["tls"] == CheckModule(name: "tls", options: .tls(TLSOptions())))
    #expect(modules["dns"] == CheckModule(name: "dns", options: .dns(DNSOptions())))
  }

  @Test(arguments: [
    ("icmp", "tcp", "icmp"), ("route", "dns", "route"), ("tcp_connect", "tls", "tcp"), ("http_2xx", "tls", "http"),
    ("https_2xx", "tcp", "https"), ("tls_connect", "http", "tls"), ("dns_udp", "icmp", "dns"),
  ])
  func builtInModuleNameNeedsItsProber(name: String, prober: String, scheme: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics("modules:\n  \(name): { prober: \(prober) }")
    let diagnostic = "FILE:2:\(name.count + 15): modules.\(name).prober: \(prober) is not for \(scheme)://"
    #expect(diagnostics.count == 1 && diagnostics.first?.hasPrefix(diagnostic) == true, "\(diagnostics)")
    #expect(diagnostics.first?.contains("give the module another name") == true, "\(diagnostics)")
  }

  @Test(arguments: ["tcp", "icmp", "http", "tls", "dns"])
  func addressSelectionIsRead(prober: String) throws {
    for selection in CheckAddressSelection.allCases {
      let modules = try modules("  m: {prober: \(prober), addresses: \(selection.rawValue)}\n")
      #expect(modules["m"]?.addresses == selection)
    }
    #expect(try modules("  m: {prober: \(prober)}\n")["m"]?.addresses == .any)
  }

  @Test func authorityFilesAreValidated() throws {
    let empty = try ConfigurationTests.file("no certificate")
    defer { try? FileManager.default.removeItem(atPath: empty) }
    let pipe = empty + ".pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    defer { try? FileManager.default.removeItem(atPath: pipe) }
    for (file, cause) in [
      (empty, ""), ("/nonexistent.pem", ""), ("/", "not a regular file"), (pipe, "not a regular"),
    ] {
      for prober in ["tls", "http"] {
        let text = "modules:\n  m: {prober: \(prober), authorityFile: \(file)}"
        let diagnostics = try ConfigurationTests.diagnostics(text)
        #expect(diagnostics.count == 1)
        #expect(diagnostics.first?.hasPrefix("\(file): modules.m.authorityFile: \(cause)") == true, "\(diagnostics)")
      }
    }
  }

  @Test func everyModuleFieldIsRead() throws {
    let authority = try TestAuthority()
    let modules = try modules(
      """
        smtp: {prober: tcp, ip: 6, send: "EHLO x\\r\\n", expect: '^250[ -]'}
        far: {prober: icmp, ip: 4, count: 5, spacing: 20ms, payloadBytes: 0, maximumLoss: 0.2, maximumRoundTrip: 80ms}
        api:
          prober: http
          ip: any
          method: POST
          headers: {Authorization: "Bearer ${SECRET}", Accept: ""}
          body: "{}"
          expectStatus: [200, 300-399]
          expectBody: 'ok\\b'
          rejectBody: error
          expectHeaders: {Content-Type: ^application/json}
          maximumRedirects: 3
          httpVersion: 1.1
          bodyLimit: 4096
          serverName: api.internal
          verify: false
          authorityFile: \(authority.certificate)
          minimumValidity: 168h
        cert: {prober: tls, serverName: db.internal, verify: true, authorityFile: \(authority.certificate), minimumValidity: 1h}
        zone: {prober: dns, tcp: true, recursion: false, expectCodes: [nxdomain, NOERROR], expectAnswer: '^10\\.',
          queryName: db.internal., queryType: aaaa}
      """, ["SECRET": "s"])
    #expect(
      modules["smtp"]
        == CheckModule(name: "smtp", options: .tcp(TCPOptions(send: "EHLO x\r\n", expect: "^250[ -]")), family: .ipv6))
    let echo = ICMPOptions(
      count: 5, spacing: .milliseconds(20), payloadBytes: 0, maximumLoss: 0.2, maximumRoundTrip: .milliseconds(80))
    #expect(modules["far"] == CheckModule(name: "far", options: .icmp(echo), family: .ipv4))
    var http = HTTPOptions()
    http.method = "POST"
    http.headers = [.init(name: "Authorization", value: "Bearer s"), .init(name: "Accept", value: "")]
    http.body = "{}"
    http.expectStatus = [200...200, 300...399]
    http.expectBody = "ok\\b"
    http.rejectBody = "error"
    http.expectHeaders = [.init(name: "Content-Type", value: "^application/json")]
    http.maximumRedirects = 3
    http.version = .http11
    http.bodyLimit = 4_096
    http.tls.serverName = "api.internal"
    http.tls.verify = false
    http.tls.authorityFile = authority.certificate
    http.tls.minimumValidity = .seconds(168 * 3600)
    #expect(modules["api"] == CheckModule(name: "api", options: .http(http)))
    var tls = TLSOptions()
    tls.serverName = "db.internal"
    tls.authorityFile = authority.certificate
    tls.minimumValidity = .seconds(3600)
    #expect(modules["cert"] == CheckModule(name: "cert", options: .tls(tls)))
    var dns = DNSOptions()
    dns.usesTCP = true
    dns.recursion = false
    dns.expectCodes = ["NXDOMAIN", "NOERROR"]
    dns.expectAnswer = "^10\\."
    dns.question = DNSQuestion(name: "db.internal", type: .aaaa)
    #expect(modules["zone"] == CheckModule(name: "zone", options: .dns(dns)))
  }

  @Test(arguments: [
    ("m: http", "FILE:2:6: modules.m: a mapping is expected here"),
    ("m: {}", "FILE:2:6: modules.m: prober is missing; one of dns, "),
    ("m: {prober: ftp}", "FILE:2:15: modules.m.prober: \"ftp\" is invalid; expected one of dns, "),
    ("a b: {prober: tcp}", "FILE:2:3: modules.a b: \"a b\" is not a valid name; a module's name is 1 to 63 of"),
    (
      "m: {prober: tcp, addresses: some}",
      "FILE:2:31: modules.m.addresses: \"some\" is invalid; expected one of any, first, all"
    ),
    ("m: {prober: route, addresses: all}", "FILE:2:22: modules.m.addresses: unknown key"),
    ("m: {prober: tcp, ip: 5}", "FILE:2:24: modules.m.ip: \"5\" is invalid; expected one of any, 4, 6"),
    ("m: {prober: tcp, sent: x}", "FILE:2:20: modules.m.sent: unknown key; did you mean send?"),
    ("m: {prober: icmp, method: GET}", "FILE:2:21: modules.m.method: unknown key; there are prober, ip, count"),
    ("m: {prober: tcp, send: [x]}", "FILE:2:26: modules.m.send: not a text value"),
    ("m: {prober: tcp, expect: '['}", "FILE:2:28: modules.m.expect: \"[\" is not a regular expression: missing termin"),
    ("m: {prober: icmp, count: 0}", "FILE:2:28: modules.m.count: \"0\" is invalid; expected an integer from"),
    ("m: {prober: icmp, count: 101}", "FILE:2:28: modules.m.count: \"101\" is invalid"),
    ("m: {prober: icmp, spacing: 0s}", "FILE:2:30: modules.m.spacing: \"0s\" is invalid; expected a duration fr"),
    ("m: {prober: icmp, payloadBytes: 1473}", "FILE:2:35: modules.m.payloadBytes: \"1473\" is invalid"),
    ("m: {prober: icmp, maximumLoss: 20%}", "FILE:2:34: modules.m.maximumLoss: \"20%\" is invalid; expected a n"),
    ("m: {prober: icmp, maximumRoundTrip: x}", "FILE:2:39: modules.m.maximumRoundTrip: \"x\" is invalid"),
    ("m: {prober: http, method: get}", "FILE:2:29: modules.m.method: \"get\" is invalid; expected a method in"),
    ("m: {prober: http, headers: [x]}", "FILE:2:30: modules.m.headers: a mapping is expected here"),
    ("m: {prober: http, headers: {'A B': c}}", "FILE:2:31: modules.m.headers: \"A B\" is not a field name"),
    ("m: {prober: http, headers: {\"A\\r\\nB\": c}}", "FILE:2:31: modules.m.headers: \"A\\r\\nB\" is not a field name"),
    (
      "m: {prober: http, headers: {A: \"b\\r\\nHost: evil\"}}",
      "FILE:2:34: modules.m.headers.A: \"b\\r\\nHost: evil\" is invalid; expected a text without control characters"
    ),
    ("m: {prober: http, headers: {A: \"b\\tc\\x7f\"}}", "FILE:2:34: modules.m.headers.A: "),
    ("m: {prober: http, headers: {A: \"\\0\"}}", "FILE:2:"),
    ("m: {prober: http, expectStatus: 200}", "FILE:2:35: modules.m.expectStatus: a list is expected here; write [200"),
    ("m: {prober: http, expectStatus: [99]}", "FILE:2:36: modules.m.expectStatus: \"99\" is invalid; expected a"),
    ("m: {prober: http, expectStatus: [300-200]}", "FILE:2:36: modules.m.expectStatus: \"300-200\" is invalid"),
    ("m: {prober: http, expectStatus: [2xx]}", "FILE:2:36: modules.m.expectStatus: \"2xx\" is invalid"),
    ("m: {prober: http, expectBody: '(a'}", "FILE:2:33: modules.m.expectBody: \"(a\" is not a regular expression"),
    ("m: {prober: http, rejectBody: '*'}", "FILE:2:33: modules.m.rejectBody: \"*\" is not a regular expression"),
    ("m: {prober: http, expectHeaders: {A: '('}}", "FILE:2:40: modules.m.expectHeaders.A: \"(\" is not a regular"),
    ("m: {prober: http, maximumRedirects: 11}", "FILE:2:39: modules.m.maximumRedirects: \"11\" is invalid"),
    (
      "m: {prober: tls, serverName: 'a b'}", "FILE:2:32: modules.m.serverName: \"a b\" is invalid; expected a host"
    ),
    ("m: {prober: tls, verify: no}", "FILE:2:28: modules.m.verify: \"no\" is invalid; expected true or false"),
    ("m: {prober: tls, authorityFile: own.pem}", "FILE:2:35: modules.m.authorityFile: \"own.pem\" is invalid"),
    ("m: {prober: tls, minimumValidity: 7d}", "FILE:2:37: modules.m.minimumValidity: \"7d\" is invalid"),
    ("m: {prober: dns, tcp: 1}", "FILE:2:25: modules.m.tcp: \"1\" is invalid"),
    ("m: {prober: dns, recursion: [x]}", "FILE:2:31: modules.m.recursion: not a text value"),
    (
      "m: {prober: dns, expectCodes: [OK]}", "FILE:2:34: modules.m.expectCodes: \"OK\" is invalid; expected one of"
    ),
    (
      "m: {prober: dns, queryName: a..b}",
      "FILE:2:31: modules.m.queryName: \"a..b\" is invalid; expected a name su"
    ),
    ("m: {prober: dns, queryName: a?type=MX}", "FILE:2:31: modules.m.queryName: "),
    (
      "m: {prober: dns, queryName: a, queryType: X}",
      "FILE:2:45: modules.m.queryType: \"X\" is invalid; expected on"
    ),
    ("m: {prober: dns, queryType: MX}", "FILE:2:31: modules.m.queryType: queryType requires queryName"),
    ("m: {prober: dns, expectAnswer: '(?<'}", "FILE:2:34: modules.m.expectAnswer: \"(?<\" is not a regular expression"),
  ])
  func invalidModuleIsReportedWithItsLocation(text: String, diagnostic: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics("modules:\n  " + text)
    #expect(diagnostics.count == 1, "\(diagnostics)")
    #expect(diagnostics.first?.contains(diagnostic) == true, "\(diagnostics)")
  }

  @Test func duplicateModuleNameIsRejected() throws {
    let diagnostics = try ConfigurationTests.diagnostics("modules:\n  m: {prober: tcp}\n  m: {prober: icmp}")
    #expect(diagnostics.count == 1 && diagnostics.first?.hasPrefix("FILE:3:3: the key 'm' is given twice") == true)
  }

  @Test func targetOfAnInvalidModuleCausesNoSecondError() throws {
    let diagnostics = try ConfigurationTests.diagnostics(
      "modules: {m: {prober: tcp, expect: '['}}\ntargets: [{id: a, target: 'tcp://a:1', module: m}]")
    #expect(diagnostics.count == 1 && diagnostics.first?.contains("modules.m.expect") == true, "\(diagnostics)")
  }

  @Test func hostsAreRead() throws {
    let modules = try modules(
      """
        none: {prober: http}
        all: {prober: http, hosts: any}
        empty: {prober: http, hosts: []}
        some: {prober: http, hosts: [api.internal, "http://${NET}:8080"]}
        db: {prober: tcp, hosts: ["tcp://db:5432"]}

      """, ["NET": "10.0.0.0/8"])
    #expect(modules["none"]?.access == .configuredTargets)
    #expect(modules["all"]?.access == .any)
    #expect(modules["empty"]?.access == .hosts([]))
    #expect(
      modules["some"]?.access == .hosts([try HostPattern("api.internal"), try HostPattern("http://10.0.0.0/8:8080")]))
    #expect(modules["db"]?.access == .hosts([try HostPattern("tcp://db:5432")]))
  }

  @Test(arguments: [
    ("http, hosts: all", "hosts: \"all\" is invalid; expected any, or a list"),
    ("http, hosts: ~", "hosts: not a text value"), ("http, hosts: {a: b}", "hosts: a list is expected here"),
    ("http, hosts: [any]", "hosts[0]: any is not the name of a host; write hosts: any"),
    ("http, hosts: [a, 'https://b/c']", "hosts[1]: \"b/c\" is not an address block"),
    ("http, hosts: ['tcp://a:1']", "hosts[0]: the module has no tcp:// targets; write http:// or https:// before"),
    ("tcp, hosts: ['a:1']", "hosts[0]: the module has no https:// targets; write tcp:// before the host"),
    ("tls, hosts: ['tls://a']", "hosts[0]: \"tls://a\" has no port; write tls://host:port"),
    ("icmp, hosts: any", "hosts: unknown key"), ("route, hosts: any", "hosts: unknown key"),
  ])
  func hostsThatAreWrongAreToldWithTheirPlace(text: String, diagnostic: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics("modules:\n  m: {prober: \(text)}")
    #expect(diagnostics.count == 1 && diagnostics.first?.contains(" modules.m.\(diagnostic)") == true, "\(diagnostics)")
  }
}
