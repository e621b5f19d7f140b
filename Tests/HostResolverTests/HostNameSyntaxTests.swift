import HostResolver
import TestSupport
import Testing

@Suite struct HostNameSyntaxTests {
  static let longLabel = String(repeating: "a", count: 64)
  static let longName = [String](repeating: String(repeating: "a", count: 63), count: 4).joined(separator: ".")

  @Test(arguments: [
    ("", "empty"), ("a b", "space"), ("a\n", "control"), ("a\0b", "control"), ("\u{7F}", "control"),
    ("bücher.example", "punycode"), ("https://example.test/", "URL"), ("example.test/path", "'/'"),
    ("10.0.0.0/8", "'/'"), ("db:5432", "port"), ("[::1]", "port"), ("127.0.0.1:53", "port"),
    (".", "empty label"), ("a..b", "empty label"), (".a", "empty label"), ("a..", "empty label"),
    (longLabel + ".test", "63 bytes"), (longName, "253"), (longName + longName, "253"), ("a*b", "'*'"),
    ("a\\.b", "does not belong"), ("user@host", "'@'"), ("127.1", "four decimal"), ("2130706433", "four decimal"),
    ("0x7f.1", "four decimal"), ("0x7f000001", "four decimal"), ("1.2.3.256", "four decimal"),
    ("127.0.0.1.", "four decimal"), ("host.0x1f", "four decimal"), ("fe80::1%nosuch0", "no interface"),
    ("192.0.2.1%lo", "zone"), ("2001:db8::1%lo", "link-local"), ("fe80::1%", "no interface"), ("%lo", "zone"),
  ])
  func badNamesSayWhy(name: String, part: String) async {
    let error = await #expect(throws: HostResolutionFailure.self) {
      try await Resolver(.init(servers: ["not an address"])).resolve(name, timeout: patience)
    }
    guard case .invalidName(let hint) = error else {
      Issue.record("\(name) gave \(String(describing: error))")
      return
    }
    #expect(hint.contains(part), "\(hint)")
  }

  @Test(arguments: [
    "a", "a.", "xn--bcher-kva.example", "_dmarc.example.test", "3com.test", "a-b.test", "1.2.3.example",
    String(longName.dropLast(2)),
  ])
  func goodNamesAreAsked(name: String) async throws {
    let server = try DNSServer { _, _ in .addresses([four]) }
    defer { server.stop() }
    #expect(try await Resolver(asking: [server]).bytes(name) == [four])
  }
}
