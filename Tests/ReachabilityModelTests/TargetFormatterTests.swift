import ReachabilityModel
import Testing

@Suite("Targets as a person writes them")
struct TargetFormatterTests {
  @Test(
    "E3-1 E4-1 every kind of host is told apart",
    arguments: [
      ("default", "default", "default"), ("0.0.0.0", "default", "default"), ("::", "default", "default"),
      ("[::]", "default", "default"), ("0:0:0:0:0:0:0:0", "default", "default"),
      ("local-link", "localLink", "local-link"), ("169.254.0.0", "localLink", "local-link"),
      ("169.254.169.254", "address", "169.254.169.254"), ("1.2.3.4", "address", "1.2.3.4"),
      ("2001:DB8::1", "address", "2001:db8::1"), ("[2001:db8::1]", "address", "2001:db8::1"),
      ("::ffff:10.0.0.1", "address", "::ffff:10.0.0.1"), ("::1", "address", "::1"), ("ff05::1", "address", "ff05::1"),
      ("localhost", "name", "localhost"), ("db.internal", "name", "db.internal"),
      ("example.com.", "name", "example.com."),
      ("EXAMPLE.com", "name", "EXAMPLE.com"), ("_sip._tcp.example.com", "name", "_sip._tcp.example.com"),
      ("xn--bcher-kva.example", "name", "xn--bcher-kva.example"), ("3com.com", "name", "3com.com"),
      ("1.2.3.4.example", "name", "1.2.3.4.example"), ("a", "name", "a"), ("1a", "name", "1a"),
      ("defaults", "name", "defaults"),
    ])
  func kinds(_ text: String, _ kind: String, _ host: String) throws {
    let target = try ReachabilityTarget(host: text)
    #expect(target.kind == kind)
    #expect(target.host == host)
    #expect(target.source == nil && target.interface == nil)
    #expect(try ReachabilityTarget(host: target.host) == target)
  }

  @Test(
    "E3-1 E3-2 what is no host is refused with a hint",
    arguments: [
      "", " ", ".", "..", "...", "a..b", ".a", "a b", " a", "a ", "a\n", "a\u{0}b", "\t", "https://example.com",
      "http://1.2.3.4/x",
      "tcp://db:5432", "://", "example.com/path", "/", "10.0.0.0/24", "example.com:80", "1.2.3.4:80", "[::1]:80",
      "[::1",
      "::1]", "[]", "[1.2.3.4]", "[example.com]", "[", "]", "[:]", ":", ":80", "1:2:3", "bücher.example", "例え.jp", "😀",
      "256.1.1.1", "1.2.3", "1.2.3.4.5", "1.2.3.4.", "12345", "0", "2130706433", "example.1", "010.0.0.1", "%", "%eth0",
      "a%eth0", "default%", "local-link%a/b", "defaults%eth0", "1.2.3.4%", "fe80::1%", "fe80::1%a/b", "fe80::1%a b",
      "fe80::1%" + String(repeating: "a", count: 128),
    ])
  func refused(_ text: String) {
    let error = #expect(throws: TargetError.self) { try ReachabilityTarget(host: text) }
    #expect(error?.problem.isEmpty == false && error?.hint.isEmpty == false)
    #expect(error?.description.contains("\n") == false, "one line, whatever was written")
  }

  @Test(
    "Hexadecimal spellings of an address are no names: getaddrinfo would read an address",
    arguments: ["0x7f000001", "0x7f.0x0.0x0.0x1", "0X7F000001", "127.0.0.0x1", "0x", "example.0xa"])
  func hexadecimal(_ text: String) {
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: text) }
  }

  @Test(
    "Parts of a URL that stick to a name are refused",
    arguments: [
      "user@example.com", "example.com?x=1", "example.com#top", "a,b", "a;b", "a&b", "a=b", "<a>", "\"a\"", "'a'",
      "a|b",
      "a\\b", "*.example.com", "$(a)", "`a`", "{a}", "a!", "a~",
    ])
  func strangeCharacters(_ text: String) {
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: text) }
  }

  @Test("A URL and a port are named as such in the error")
  func wording() {
    #expect(throws: TargetError("\"https://a\" is a URL", hint: "give the host alone, without scheme and path")) {
      try ReachabilityTarget(host: "https://a")
    }
    let port = #expect(throws: TargetError.self) { try ReachabilityTarget(host: "a:80") }
    #expect(port?.problem.contains("port") == true)
    let path = #expect(throws: TargetError.self) { try ReachabilityTarget(host: "a/b") }
    #expect(path?.problem.contains("path") == true)
    let foreign = #expect(throws: TargetError.self) { try ReachabilityTarget(host: "bücher.example") }
    #expect(foreign?.hint.contains("xn--") == true)
  }

  @Test("Names and labels have their greatest length, and not one byte more")
  func lengths() throws {
    let label = String(repeating: "a", count: 63)
    #expect(try ReachabilityTarget(host: label).kind == "name")
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: label + "a") }
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: "b." + label + "a") }
    let longest = [label, label, label, String(repeating: "a", count: 61)].joined(separator: ".")
    #expect(longest.utf8.count == 253)
    #expect(try ReachabilityTarget(host: longest).kind == "name")
    #expect(try ReachabilityTarget(host: longest + ".").kind == "name")
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: "a" + longest) }
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: "a." + longest) }
    let huge = #expect(throws: TargetError.self) {
      try ReachabilityTarget(host: String(repeating: "a", count: 1_000_000))
    }
    #expect((huge?.description.utf8.count ?? .max) < 1000, "the error does not repeat it all")
  }

  @Test("A zone and an interface are one thing; two different ones are a contradiction")
  func zones() throws {
    #expect(try ReachabilityTarget(host: "fe80::1%eth0").interface == "eth0")
    #expect(try ReachabilityTarget(host: "[fe80::1%eth0]").interface == "eth0")
    #expect(try ReachabilityTarget(host: "fe80::1", interface: "eth0") == ReachabilityTarget(host: "fe80::1%eth0"))
    #expect(try ReachabilityTarget(host: "fe80::1%eth0", interface: "eth0").interface == "eth0")
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: "fe80::1%eth0", interface: "eth1") }
    #expect(try ReachabilityTarget(host: "10.0.0.1%eth0.5").interface == "eth0.5")
    #expect(try ReachabilityTarget(host: "db.internal", interface: "eth0").interface == "eth0")
    #expect(try ReachabilityTarget(host: "fe80::1%eth0").description == "fe80::1%eth0")
    // 0.0.0.0 and :: are written as what they stand for, and that is read again.
    for text in ["::%eth0", "0.0.0.0%eth0", "default%eth0", "::%%9f", "169.254.0.0%eth0", "local-link%eth0"] {
      let target = try ReachabilityTarget(host: text)
      let again = try ReachabilityTarget(host: target.description)
      #expect(target.interface != nil && again == target, "\(text)")
    }
  }

  @Test(
    "Link-local addresses need a link",
    arguments: ["fe80::1", "febf::1", "ff02::1", "ff01::1", "[fe80::1]"])
  func linkLocalWithoutZone(_ text: String) throws {
    let error = #expect(throws: TargetError.self) { try ReachabilityTarget(host: text) }
    #expect(error?.hint.contains("%eth0") == true)
    #expect(try ReachabilityTarget(host: text, interface: "eth0").kind == "address")
  }

  @Test(
    "E4-2 the unspecified address is never a lookup's destination, however it is spelled",
    arguments: ["0.0.0.0%eth0", "::%eth0", "[::%eth0]", "::ffff:0.0.0.0%eth0"])
  func scopedDefault(_ text: String) throws {
    #expect(try ReachabilityTarget(host: text) == ReachabilityTarget(.defaultPath, interface: "eth0"))
  }

  @Test("E4-4 mapped spellings of the two special addresses are these two")
  func mappedSpecials() throws {
    #expect(try ReachabilityTarget(host: "::ffff:0.0.0.0") == .default)
    #expect(try ReachabilityTarget(host: "::ffff:169.254.0.0") == .localLink)
    #expect(try ReachabilityTarget(host: "169.254.0.0%eth0") == ReachabilityTarget(.localLink, interface: "eth0"))
  }

  @Test(
    "Interface names follow the kernel's rule",
    arguments: [
      ("eth0", true), ("e", true), ("0123456789abcde", true), ("br-lan.5@x", true), ("wg0_ü", true),
      (String(repeating: "a", count: 128), false), ("0123456789abcdef", true),
      ("", false), (".", false), ("..", false), ("a/b", false), ("a b", false), ("a:1", false), ("a\n", false),
      ("a\u{7f}", false),
    ])
  func interfaceNames(_ name: String, _ valid: Bool) throws {
    if valid {
      #expect(try ReachabilityTarget(host: "default", interface: name).interface == name)
    } else {
      #expect(throws: TargetError.self) { try ReachabilityTarget(host: "default", interface: name) }
    }
  }

  @Test("A source makes a pair of an address; it must be an address of the same family")
  func sources() throws {
    let pair = try ReachabilityTarget(host: "10.0.0.9", source: "10.0.0.5", interface: "eth0")
    #expect(pair.kind == "pair")
    #expect(try pair.source == ip("10.0.0.5"))
    #expect(pair.description == "10.0.0.9%eth0 from 10.0.0.5")
    #expect(try ReachabilityTarget(host: "10.0.0.9", source: "::ffff:10.0.0.5").source == ip("10.0.0.5"))
    #expect(try ReachabilityTarget(host: "::ffff:10.0.0.9", source: "10.0.0.5").kind == "pair")
    #expect(try ReachabilityTarget(host: "db.internal", source: "fd00::5").kind == "name")
    #expect(try ReachabilityTarget(host: "default", source: "fd00::5").kind == "default")
    for (host, source) in [("10.0.0.9", "fd00::5"), ("fd00::9", "10.0.0.5"), ("fd00::9", "::ffff:10.0.0.5")] {
      #expect(throws: TargetError.self, "\(source) → \(host)") { try ReachabilityTarget(host: host, source: source) }
    }
    for source in ["", "localhost", "10.0.0.5%eth0", "[::1]", "10.0.0"] {
      #expect(throws: TargetError.self, "\(source)") { try ReachabilityTarget(host: "default", source: source) }
    }
  }

  @Test("E4-5 a target cannot be made of a source alone")
  func sourceAlone() {
    #expect(throws: TargetError.self) { try ReachabilityTarget(host: "", source: "10.0.0.5") }
  }
}
