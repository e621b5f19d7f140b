import ReachabilityModel
import TestSupport
import Testing

@Suite("Where callers may use a module")
struct ModuleAccessTests {
  private static let secret = CheckModule.Options.tcp(TCPOptions(send: "AUTH secret"))

  private func verdict(
    _ hosts: [String], _ target: String, source: IPAddress? = nil, interface: String? = nil, hostname: String? = nil
  ) throws -> ModuleAccess.Verdict {
    let module = CheckModule(name: "m", options: Self.secret, access: .hosts(try hosts.map { try HostPattern($0) }))
    return CheckRequest(
      try CheckTarget(target), module: module, source: source, interface: interface,
      hostname: hostname, policy: ContactPolicy()
    ).moduleVerdict
  }

  @Test(
    "A pattern allows what it says, in every spelling of it",
    arguments: [
      ("api.internal", "https://api.internal/"), ("api.internal", "https://api.internal:443/x?y=http://evil/"),
      ("api.internal", "HTTPS://API.Internal./"), ("API.INTERNAL.", "https://api.internal"),
      ("HTTP://api.internal", "http://api.internal/"), ("http://api.internal:8080", "http://api.internal:8080/"),
      ("api.internal:443", "https://api.internal/"), (".internal", "https://api.internal/"),
      (".internal", "https://a.b.INTERNAL./"), ("tcp://db:5432", "tcp://db:5432"), ("tls://db:5432", "tls://db:5432"),
      ("dns://ns.internal", "dns://ns.internal/a.example"), ("xn--bcher-kva.example", "https://XN--BCHER-KVA.example/"),
      ("10.0.0.5", "https://10.0.0.5/"), ("10.0.0.5", "https://[::ffff:10.0.0.5]/"),
      ("::ffff:10.0.0.5", "https://10.0.0.5/"), ("10.0.0.0/8", "https://10.255.255.255/"),
      ("10.1.2.3/8", "https://10.9.9.9/"), ("10.0.0.0/8:8443", "https://10.0.0.1:8443/"),
      ("http://10.0.0.0/8", "http://10.0.0.1/"), ("2001:db8::1", "https://[2001:DB8:0::1]/"),
      ("2001:db8::/32", "https://[2001:db8:ffff::1]/"), ("[2001:db8::]:8443", "https://[2001:db8::]:8443/"),
      ("[2001:db8::/32]:8443", "https://[2001:db8::9]:8443/"), ("0.0.0.0/0", "https://10.0.0.1/"),
    ])
  func allowed(pattern: String, target: String) throws {
    #expect(try verdict([pattern], target) == .allowed)
  }

  @Test("A caller's name for the host needs permission, too")
  func hostnames() throws {
    let target = "https://api.internal/"
    #expect(try verdict(["api.internal"], target, hostname: "api.internal") == .allowed)
    #expect(try verdict(["api.internal", "web.internal"], target, hostname: "WEB.internal") == .allowed)
    #expect(try verdict(["api.internal"], target, hostname: "evil.example") == .denied)
    #expect(try verdict([".internal"], target, hostname: "internal.evil.example") == .denied)
    #expect(try verdict(["api.internal"], target, hostname: "192.0.2.1") == .denied)
    #expect(try verdict(["api.internal"], target, hostname: "a b") == .denied)
    // A block permits addresses, whatever their names.
    #expect(try verdict(["10.0.0.0/8"], "https://10.0.0.5/", hostname: "www.example") == .allowed)
    #expect(try verdict(["10.0.0.0/8"], "https://192.0.2.5/", hostname: "10.0.0.5") == .denied)
    // Without data of the file, every name is permitted.
    let open = CheckModule(name: "m", options: .http(HTTPOptions()))
    let request = CheckRequest(
      try CheckTarget(target), module: open, hostname: "evil.example", policy: ContactPolicy())
    #expect(request.moduleVerdict == .allowed)
  }

  @Test(
    "A pattern allows nothing else",
    arguments: [
      // Other schemes and ports.
      ("api.internal", "http://api.internal/"), ("api.internal", "https://api.internal:8443/"),
      ("api.internal", "http://api.internal:443/"), ("http://api.internal", "https://api.internal/"),
      ("http://api.internal:8080", "http://api.internal/"), ("api.internal:443", "tls://api.internal:443"),
      ("tcp://db:5432", "tls://db:5432"), ("tcp://db:5432", "tcp://db:5433"),
      // Other names.
      ("api.internal", "https://api.internal.evil/"), ("api.internal", "https://evilapi.internal/"),
      ("api.internal", "https://x.api.internal/"), ("api.internal", "https://api/"),
      ("api.internal", "https://api-internal/"), (".internal", "https://internal/"),
      (".internal", "https://evilinternal/"), (".internal", "https://internal.evil/"),
      (".api.internal", "https://api.internal/"), ("xn--bcher-kva.example", "https://bcher.example/"),
      // Other addresses.
      ("10.0.0.5", "https://10.0.0.6/"), ("10.0.0.0/8", "https://11.0.0.1/"),
      ("10.0.0.0/8", "https://[64:ff9b::10.0.0.1]/"), ("10.0.0.0/8", "https://[::10.0.0.1]/"),
      ("10.0.0.0/8", "https://[2002:a00:1::1]/"), ("::/0", "https://10.0.0.1/"),
      ("0.0.0.0/0", "https://[2001:db8::1]/"),
      ("2001:db8::/32", "https://[2001:db9::1]/"), ("10.0.0.5:8443", "https://10.0.0.5/"),
    ])
  func denied(pattern: String, target: String) throws {
    #expect(try verdict([pattern], target) == .denied)
  }

  @Test func aBlockDecidesAboutANameByItsAddress() throws {
    let verdict = try verdict(["10.0.0.0/8", "http://192.168.0.0/16", "api.internal"], "https://db.internal/")
    #expect(verdict == .inBlocks([try block("10.0.0.0/8")]))
    for text in ["10.0.0.1", "::ffff:10.0.0.1"] { #expect(verdict.allows(try ip(text)), "\(text)") }
    for text in ["192.168.0.1", "11.0.0.1", "64:ff9b::a00:1", "::1"] {
      #expect(!verdict.allows(try ip(text)), "\(text)")
    }
  }

  @Test func aNameThatIsListedMayHaveAnyAddress() throws {
    #expect(try verdict(["10.0.0.0/8", "api.internal"], "https://api.internal/") == .allowed)
  }

  @Test func hostsAreForTheKernelsChoiceOfRoute() throws {
    #expect(try verdict(["10.0.0.5"], "https://10.0.0.5/", interface: "wlan0") == .denied)
    #expect(try verdict(["10.0.0.5"], "https://10.0.0.5/", source: try ip("10.0.0.9")) == .denied)
    #expect(try verdict(["fe80::/10"], "https://[fe80::1%eth0]/") == .denied)
  }

  @Test func noPatternAllowsNothing() throws { #expect(try verdict([], "https://api.internal/") == .denied) }

  private func request(
    _ options: CheckModule.Options, _ access: ModuleAccess, _ policy: ContactPolicy? = ContactPolicy()
  ) throws -> CheckRequest {
    CheckRequest(
      try CheckTarget("https://evil/"), module: CheckModule(name: "m", options: options, access: access), policy: policy
    )
  }

  private static let carriers: [CheckModule.Options] = {
    var fields = HTTPOptions()
    fields.headers = [.init(name: "Authorization", value: "secret")]
    var body = HTTPOptions()
    body.body = ""
    var name = HTTPOptions()
    name.tls.serverName = "secret.internal"
    var question = DNSOptions()
    question.question = DNSQuestion(name: "secret.internal")
    return [.http(fields), .http(body), .http(name), .tls(name.tls), .dns(question), secret]
  }()

  @Test(arguments: carriers)
  func whatTheFileGaveIsForTargetsOfTheFile(options: CheckModule.Options) throws {
    #expect(try request(options, .configuredTargets).moduleVerdict == .denied)
    #expect(try request(options, .configuredTargets, nil).moduleVerdict == .allowed)
    #expect(try request(options, .hosts([]), nil).moduleVerdict == .allowed)
    #expect(try request(options, .any).moduleVerdict == .allowed)
  }

  @Test func aModuleThatSendsNothingOfTheFileIsForAllTargetsUnlessItNamesHosts() throws {
    for module in CheckModule.builtIn {
      #expect(try request(module.options, .configuredTargets).moduleVerdict == .allowed, "\(module.name)")
    }
    var options = HTTPOptions()
    options.method = "POST"
    options.expectBody = "ok"
    options.tls.verify = false
    #expect(try request(.http(options), .configuredTargets).moduleVerdict == .allowed)
    #expect(try request(.http(options), .hosts([])).moduleVerdict == .denied)
  }

  @Test(
    "What is not a pattern is refused",
    arguments: [
      "", ".", "..", "*", "*.internal", "any", ".any.*", "api.internal/", "api.internal/path", "https://api.internal/x",
      "https://", "https://https://a", "ftp://a", "icmp://a", "route://a", "://a", "user@api.internal",
      "u:p@api.internal", "api.internal:", "api.internal:0", "api.internal:65536", "api.internal:x", "api.internal:+1",
      "a:1:2", "[api.internal]", "[10.0.0.1]:80", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]443", "[[::1]]",
      "[::1]:", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/8.0", "::/129", "256.1.1.1",
      "1.2.3", "0x7f.1", "0x7f000001", "2130706433", "010.0.0.1", "::ffff:0:0/96", "fe80::1%eth0", "api%2einternal",
      "default", "local-link", "0.0.0.0/x", "a b", "a\tb", "b\u{fc}cher.example", "\u{212a}.example", "a..b", ".5",
      "tcp://db", "tls://db", "a,b", "a#b", "a?b", "a\\b", "'self'",
    ])
  func refused(text: String) {
    #expect(throws: TargetError.self) { try HostPattern(text) }
  }

  @Test func aPatternNeverAllowsMoreThanItsText() throws {
    // Every target that one spelling allows has the scheme, host and port of the pattern in its canonical text.
    var random = SeededGenerator(seed: 17)
    let labels = ["api", "internal", "evil", "API", "xn--a", "a", "10", "x"]
    let schemes = ["", "https://", "http://", "HTTPS://"]
    let ports = ["", ":443", ":80", ":8443"]
    for _ in 0..<20_000 {
      func name() -> String {
        (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in labels.randomElement(using: &random) }
          .joined(separator: ".") + (Bool.random(using: &random) ? "" : ".")
      }
      func text(_ host: String) -> String {
        (schemes.randomElement(using: &random) ?? "") + host + (ports.randomElement(using: &random) ?? "")
      }
      let (patternText, targetText) = (text(name()), text(name()))
      guard let pattern = try? HostPattern(patternText), case .name(let name) = pattern.host,
        let target = try? CheckTarget(targetText), target.scheme.hasPort
      else { continue }
      var host = target.host.host.lowercased()
      if host.hasSuffix(".") { host.removeLast() }
      let isSame = pattern.scheme == target.scheme && pattern.port == target.port && name == host
      #expect(try verdict([patternText], targetText) == (isSame ? .allowed : .denied), "\(patternText) \(targetText)")
    }
  }
}
