import Testing

@testable import ReachabilityModel

@Suite struct RedactionTests {
  @Test(arguments: [
    ("", ""), ("/", "/"), ("db", "db"), ("tcp://db:5432", "tcp://db:5432"),
    ("tcp://[fd00::1]:22", "tcp://[fd00::1]:22"),
    ("https://api/health", "https://api/health"), ("https://api/a@b/c:d", "https://api/a@b/c:d"),
    // Query values, also empty ones, ones without a name, and a question mark in one.
    ("https://api/?key=SECRET", "https://api/?key=REDACTED"), ("https://api?key=SECRET", "https://api?key=REDACTED"),
    ("https://api/?a=SECRET&b=SECRET", "https://api/?a=REDACTED&b=REDACTED"), ("https://api/?a=", "https://api/?a="),
    ("https://api/?SECRET", "https://api/?REDACTED"), ("https://api/?a&&b=1&", "https://api/?REDACTED&&b=REDACTED&"),
    ("https://api/?a=SEC?RET", "https://api/?a=REDACTED"), ("https://api/?a=SEC=RET", "https://api/?a=REDACTED"),
    ("https://api/?key%3DSECRET", "https://api/?REDACTED"), ("https://api/?a=1;b=SECRET", "https://api/?a=REDACTED"),
    ("https://api/?a=%53ECRET", "https://api/?a=REDACTED"), ("https://api/?", "https://api/?"),
    // Fragments.
    ("https://api/#SECRET", "https://api/"), ("https://api/?a=1#SEC?RET", "https://api/?a=REDACTED"),
    ("https://api#?a=SECRET", "https://api"),
    // User information.
    ("https://user:SECRET@api/", "https://api/"), ("https://SECRET@api", "https://api"),
    ("https://user:SE@CRET@api/x", "https://api/x"), ("https://user:SECRET%40api/", "https://api/"),
    ("//user:SECRET@api/x", "//api/x"), ("user:SECRET@api", "api"),
    ("https://user:SECRET@[fd00::1]:80/", "https://[fd00::1]:80/"), ("https://@api/", "https://api/"),
    // A password with a slash in it, which a port never has.
    ("https://user:SEC/SECRET@api/x", "https://api/x"), ("https://user:SECRET/x", "https://REDACTED"),
    ("https://api:80/a:b/@me", "https://api:80/a:b/@me"), ("https://[fd00::a]/@me", "https://[fd00::a]/@me"),
    ("http%3A%2F%2Fuser%3ASEC%2FSECRET%40api%2Fx", "http%3A%2F%2Fapi%2Fx"), ("https://api:/@me", "https://api:/@me"),
    ("https://user:SEC?RET@api/x", "https://REDACTED?REDACTED"), ("https://user:SEC#RET@api/x", "https://REDACTED"),
    ("route://fe80::abcd%eth0", "route://fe80::abcd%eth0"), ("icmp://fd00::a", "icmp://fd00::a"),
    ("route://::ffff:10.0.0.1", "route://::ffff:10.0.0.1"), ("https://api:", "https://api:"),
    // A URL inside a path, encoded once, in part, or twice.
    ("/hosts/https://user:SECRET@api/x", "/hosts/https://api/x"), ("/hosts/user:SECRET@api", "/hosts/api"),
    ("/hosts/http%3A%2F%2Fuser%3ASECRET%40api%2Fx", "/hosts/http%3A%2F%2Fapi%2Fx"),
    ("/hosts/http%3a%2f%2fSECRET%40api", "/hosts/http%3a%2f%2fapi"),
    ("/hosts/http%253A%252F%252Fu%253ASECRET%2540api", "/hosts/http%253A%252F%252Fapi"),
    ("/hosts/api%2F%3Fkey%3DSECRET", "/hosts/api%2F%3FREDACTED"), ("/hosts/api%23SECRET", "/hosts/api%23REDACTED"),
    // The targets of requests, in origin form and absolute form.
    ("/check?target=https://u:SECRET@h/&module=m", "/check?target=REDACTED&module=REDACTED"),
    ("http://u:SECRET@h/status?wait=1s", "http://h/status?wait=REDACTED"), ("*", "*"),
    // What is no encoding stays.
    ("/a%", "/a%"), ("/a%4", "/a%4"), ("/a%zz", "/a%zz"), ("/a%+4", "/a%+4"), ("/ä", "/ä"),
  ])
  func namesStayAndValuesGo(text: String, expected: String) {
    #expect(Redaction.redacted(text) == expected)
    #expect(Redaction.redacted(expected) == expected)
  }

  @Test(arguments: [
    ("https://api/x?key=SECRET", "https://api/x?key=REDACTED"), ("https://api?key=SECRET", "https://api/?key=REDACTED"),
    ("tcp://db:5432", "tcp://db:5432"), ("dns://10.0.0.53/name?type=AAAA", "dns://10.0.0.53/name?type=AAAA"),
    ("route://10.0.0.1", "route://10.0.0.1"),
  ])
  func aTargetKeepsItsQuestionToADNSServer(text: String, expected: String) throws {
    #expect(try CheckTarget(text).redacted == expected)
  }

  @Test(arguments: [
    "https://user:SECRET@api/ x", "https://api/?key=SECRET#x", "https://api/?key=SECRET x", "https://user:SECRET@api/",
    "https://user:SEC/RET@api/", "https://user:SECRET[@api", "xyz://user:SECRET@api/", "https://[user:SECRET@api/",
    "tcp://db:80/?key=SECRET", "https://api:SECRET@x/", "route://user:SECRET@api", "dns://10.0.0.1/x?key=SECRET",
    "tcp://db/?key=SECRET", "user:SECRET@api", "https://api:80:90/?key=SECRET",
  ])
  func anErrorQuotesNoSecret(text: String) throws {
    let error = #expect(throws: TargetError.self) { try CheckTarget(text) }
    let words = error.map { "\($0)" + $0.problem + $0.hint } ?? ""
    for secret in ["SECRET", "SEC/", "\"SEC"] { #expect(!words.contains(secret), "\(words)") }
  }
}
