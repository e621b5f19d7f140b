import ReachabilityModel
import Testing

@Suite("Targets of active checks are parsed strictly and written canonically")
struct CheckTargetTests {
  @Test(
    "A target comes back in its canonical form",
    arguments: [
      ("tcp://db:5432", "tcp://db:5432"), ("TCP://db.internal:5432/", "tcp://db.internal:5432"),
      ("tcp://[2001:DB8::1]:22", "tcp://[2001:db8::1]:22"), ("tcp://[fe80::1%eth0]:22", "tcp://[fe80::1%eth0]:22"),
      // RFC 6874; the interface with the index 25 has no more to its zone.
      ("tcp://[fe80::1%25eth0]:22", "tcp://[fe80::1%eth0]:22"),
      ("http://[fe80::1%25eth0]/a", "http://[fe80::1%eth0]/a"),
      ("icmp://[fe80::1%25eth0]", "icmp://fe80::1%eth0"), ("dns://[fe80::1%251]/a.test", "dns://[fe80::1%1]/a.test"),
      ("tcp://[fe80::1%25]:22", "tcp://[fe80::1%25]:22"), ("tcp://[fe80::1%2525]:22", "tcp://[fe80::1%25]:22"),
      ("icmp://10.0.0.1", "icmp://10.0.0.1"), ("icmp://2001:db8::1", "icmp://2001:db8::1"),
      ("icmp://[2001:db8::1]", "icmp://2001:db8::1"), ("http://api", "http://api/"),
      ("https://api:443/health?x=1", "https://api/health?x=1"), ("https://api:8443?x=1", "https://api:8443/?x=1"),
      ("tls://mail:993", "tls://mail:993"), ("dns://10.0.0.53/db.internal", "dns://10.0.0.53/db.internal"),
      ("dns://[::1]:5353/db.?type=aaaa", "dns://[::1]:5353/db?type=AAAA"),
      ("dns://10.0.0.53/.?type=NS", "dns://10.0.0.53/.?type=NS"),
      ("route://10.0.0.1", "route://10.0.0.1"), ("route://default", "route://default"),
      ("route://ff02::1%eth0", "route://ff02::1%eth0"),
    ])
  func canonical(text: String, expected: String) throws {
    let target = try CheckTarget(text)
    #expect(target.description == expected)
    #expect(try CheckTarget(target.description) == target)
  }

  @Test(
    "What is no target is refused with a hint",
    arguments: [
      "", "10.0.0.1", "db:5432", "localhost", "//db:5432", "tcp:db:5432", "ftp://a:21", "://a:1", "tcp://db",
      "tcp://db:", "tcp://db:0", "tcp://db:65536", "tcp://db:+1",
      "tcp://db:5432/x",
      "tcp://:5432", "tcp://::1:80", "tcp://[::1:80", "tcp://[::1]80", "tcp://user:pw@db:1", "http://a/#b",
      "http://a b/",
      "http://bücher/", "icmp://a:1", "icmp://224.0.0.1", "tcp://default:1", "icmp://0.0.0.0", "http://127.1/",
      "http://0x7f000001/", "dns://10.0.0.53", "dns://10.0.0.53/", "dns://10.0.0.53/a..b", "dns://10.0.0.53/a?type=WKS",
      "dns://10.0.0.53/a?x=1", "tcp://fe80::1:1", "http://\u{0}a/", "https://[v1.x]/",
    ])
  func refused(text: String) {
    let error = #expect(throws: TargetError.self) { try CheckTarget(text) }
    #expect(error?.hint.isEmpty == false)
  }

  @Test("A text that is too long is refused before it is looked at")
  func long() {
    #expect(throws: TargetError.self) { try CheckTarget("http://a/" + String(repeating: "x", count: 2_048)) }
  }

  @Test("Every scheme has a standard module, which fits it", arguments: CheckTarget.Scheme.allCases)
  func standardModules(scheme: CheckTarget.Scheme) {
    #expect(CheckModule.standard(for: scheme).fits(scheme))
    #expect(
      CheckTarget.Scheme.allCases.allSatisfy {
        $0 == scheme || !CheckModule.standard(for: scheme).fits($0)
          || [scheme, $0].allSatisfy { [.http, .https].contains($0) }
      })
  }
}
