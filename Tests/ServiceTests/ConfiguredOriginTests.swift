import Testing

@testable import Service

@Suite("Origins in configurations")
struct ConfiguredOriginTests {
  @Test(
    "The form that browsers send is an origin",
    arguments: [
      "http://a", "https://example.com", "https://example.com.", "http://a.b_c-d:8080", "https://a:80", "http://a:443",
      "http://192.0.2.1", "http://[2001:db8::1]", "http://[::1]:8080", "http://a:65535",
    ])
  func origins(text: String) { #expect(ConfiguredOrigin.isOrigin(text)) }

  @Test(
    "Another form is not",
    arguments: [
      "", "*", "null", "a", "//a", "ftp://a", "HTTP://a", "http://", "http://A", "http://a/", "http://a/b",
      "http://a?b",
      "http://a:80", "https://a:443", "http://a:0", "http://a:65536", "http://a:+1", "http://a:080", "http://a:",
      "http://a b", "http://u@a", "http://.a", "http://a..b", "http://é", "http://[::1", "http://[2001:DB8::1]",
      "http://[0::1]", "http://[192.0.2.1]", "http://[::1]x", "http://[]",
    ])
  func others(text: String) { #expect(!ConfiguredOrigin.isOrigin(text)) }
}
