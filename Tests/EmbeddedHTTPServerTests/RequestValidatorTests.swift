import Testing

@testable import EmbeddedHTTPServer

@Suite("RequestValidator")
struct RequestValidatorTests {
  struct Head: Sendable, CustomTestStringConvertible {
    var name: String
    var method = "GET"
    var target = "/"
    var version = "HTTP/1.1"
    var headers: HTTPHeaders = ["Host": "a"]
    var testDescription: String { name }
  }

  static let accepted: [Head] = [
    Head(name: "a plain request"),
    Head(name: "a host with a port", headers: ["Host": "example.test:8080"]),
    Head(name: "an IPv6 host", headers: ["host": "[::1]:80"]),
    Head(name: "HTTP/1.0 without a host", version: "HTTP/1.0", headers: [:]),
    Head(name: "an absolute target", target: "http://a.test/x?y=1"),
    Head(name: "an absolute target without a path", target: "http://a.test"),
    Head(name: "OPTIONS *", method: "OPTIONS", target: "*"),
    Head(name: "an unknown method", method: "get"),
    Head(name: "percent sequences", target: "/a%20b?c=%C3%A9"),
    Head(name: "a body of known length", method: "POST", headers: ["Host": "a", "Content-Length": "5"]),
    Head(name: "a value with a tab and Latin-1", headers: ["Host": "a", "X-Y": "a\tb é"]),
    Head(name: "a host with white space around it", headers: ["Host": "a "]),
  ]

  @Test("is accepted", arguments: accepted)
  func accepts(_ head: Head) {
    #expect(
      RequestValidator.check(method: head.method, target: head.target, version: head.version, headers: head.headers)
        == nil)
  }

  static let refused: [(Head, RequestRefusal.Rule)] = [
    (Head(name: "no host", headers: [:]), .host),
    (Head(name: "two hosts", headers: ["Host": "a", "host": "a"]), .host),
    (Head(name: "an empty host", headers: ["Host": ""]), .host),
    (Head(name: "a host with a path", headers: ["Host": "a/b"]), .host),
    (Head(name: "a host with a user", headers: ["Host": "u@a"]), .host),
    (Head(name: "two hosts in one field", headers: ["Host": "a, b"]), .host),
    (Head(name: "two lengths", headers: ["Host": "a", "Content-Length": "5", "content-length": "5"]), .framing),
    (Head(name: "a signed length", headers: ["Host": "a", "Content-Length": "+5"]), .framing),
    (Head(name: "a list of lengths", headers: ["Host": "a", "Content-Length": "5, 5"]), .framing),
    (Head(name: "an empty length", headers: ["Host": "a", "Content-Length": ""]), .framing),
    (Head(name: "a hexadecimal length", headers: ["Host": "a", "Content-Length": "0x5"]), .framing),
    (
      Head(name: "length and coding", headers: ["Host": "a", "Content-Length": "5", "Transfer-Encoding": "chunked"]),
      .framing
    ),
    (Head(name: "a chunked body", headers: ["Host": "a", "transfer-encoding": "Chunked"]), .lengthRequired),
    (Head(name: "two codings", headers: ["Host": "a", "Transfer-Encoding": "gzip, chunked"]), .lengthRequired),
    (Head(name: "identity", headers: ["Host": "a", "Transfer-Encoding": "identity"]), .lengthRequired),
    (Head(name: "chunked with a space", headers: ["Host": "a", "Transfer-Encoding": "chunked "]), .lengthRequired),
    (
      Head(
        name: "chunked twice", headers: ["Host": "a", "Transfer-Encoding": "chunked", "transfer-encoding": "chunked"]),
      .lengthRequired
    ),
    (
      Head(name: "chunked in HTTP/1.0", version: "HTTP/1.0", headers: ["Host": "a", "Transfer-Encoding": "chunked"]),
      .framing
    ),
    (Head(name: "a space before the colon", headers: ["Host": "a", "X ": "1"]), .header),
    (Head(name: "an empty name", headers: ["Host": "a", "": "1"]), .header),
    (Head(name: "a name with a slash", headers: ["Host": "a", "A/B": "1"]), .header),
    (Head(name: "a lone CR in a value", headers: ["Host": "a", "X": "1\r2"]), .header),
    (Head(name: "a DEL in a value", headers: ["Host": "a", "X": "1\u{7F}2"]), .header),
    (Head(name: "a space in the target", target: "/a b"), .target),
    (Head(name: "a fragment in the target", target: "/a#b"), .target),
    (Head(name: "raw bytes in the target", target: "/é"), .target),
    (Head(name: "a relative target", target: "a"), .target),
    (Head(name: "an empty target", target: ""), .target),
    (Head(name: "an https target", target: "https://a/"), .target),
    (Head(name: "an absolute target without a host", target: "http:///x"), .target),
    (Head(name: "GET *", target: "*"), .target),
    (Head(name: "CONNECT", method: "CONNECT", target: "a:80"), .target),
    (Head(name: "half a percent sequence", target: "/%2"), .target),
    (Head(name: "a percent sequence that is none", target: "/%zz"), .target),
    (Head(name: "an encoded NUL", target: "/status%00x"), .target),
    (Head(name: "percent sequences that are no UTF-8", target: "/%FF"), .target),
    (Head(name: "a malformed query", target: "/?a=%"), .target),
    (Head(name: "a method that is no token", method: "GE(T"), .requestLine),
    (Head(name: "HTTP/2 in words", version: "HTTP/2.0"), .requestLine),
  ]

  @Test("is refused", arguments: refused)
  func refuses(_ head: Head, _ rule: RequestRefusal.Rule) {
    let refusal = RequestValidator.check(
      method: head.method, target: head.target, version: head.version, headers: head.headers)
    #expect(refusal?.rule == rule)
    #expect(refusal?.status == (rule == .lengthRequired ? 411 : 400))
  }

  @Test("A huge Content-Length is too large, not malformed")
  func hugeLength() {
    #expect(RequestValidator.checkLength("999999999999999999") == nil)
    #expect(RequestValidator.checkLength("9999999999999999999")?.status == 413)
    #expect(RequestValidator.checkLength(String(repeating: "9", count: 1_000))?.rule == .bodyTooLarge)
    #expect(RequestValidator.checkLength(String(repeating: "9", count: 1_000) + "x")?.rule == .framing)
  }
}

@Suite("HTTPRequest, HTTPHeaders and ListenAddress")
struct ValueTests {
  @Test("A target is split into raw path and decoded query")
  func target() {
    let request = HTTPRequest(target: "/a%2Fb?x=1+2&x=%26&flag&&=v")
    #expect(request.path == "/a%2Fb")
    #expect(
      request.query == [
        QueryItem(name: "x", value: "1 2"), QueryItem(name: "x", value: "&"), QueryItem(name: "flag", value: ""),
        QueryItem(name: "", value: "v"),
      ])
    #expect(HTTPRequest.decodePercent("a%2Fb+c") == "a/b+c")
    #expect(HTTPRequest.decodePercent("%") == nil)
    #expect(HTTPRequest.decodePercent("%C3%28") == nil)
    #expect(HTTPRequest(target: "http://h:1?q=1").path == "/")
  }

  @Test("Header names are case-insensitive, repeats are joined")
  func headers() {
    var headers: HTTPHeaders = ["Accept": "a", "X": " 1\t", "accept": "b"]
    #expect(headers["ACCEPT"] == "a, b")
    #expect(headers.values(for: "accept") == ["a", "b"])
    headers.trimValues()
    #expect(headers["x"] == "1")
    headers["Accept"] = "c"
    #expect(headers.map(\.name) == ["X", "Accept"])
    headers["x"] = nil
    #expect(headers == ["Accept": "c"])
  }

  @Test(
    "A listen address is read",
    arguments: [
      ("127.0.0.1:8080", "127.0.0.1:8080", true), ("[::1]:0", "[::1]:0", true), ("localhost:1", "127.0.0.1:1", true),
      ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]:65535", "[::]:65535", false),
      ("127.9.9.9:1", "127.9.9.9:1", true), ("[127.0.0.1]:80", "127.0.0.1:80", true), ("::1:80", "[::1]:80", true),
      ("fd00:99::2:8476", "[fd00:99::2]:8476", false), ("1:2:3:4:5:6:7:8:80", "[1:2:3:4:5:6:7:8]:80", false),
      (":::80", "[::]:80", false), ("fe80::1%eth0:80", "[fe80::1%eth0]:80", false),
    ])
  func address(_ text: String, _ description: String, _ isLoopback: Bool) throws {
    let address = try ListenAddress(parsing: text)
    #expect(address.description == description)
    #expect(address.isLoopback == isLoopback)
  }

  @Test(
    "A listen address is refused with a hint",
    arguments: [
      "", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "host:80", "[::1]",
      "::1", "::", "fd00::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9:80", "[10.0.0.1:80", "10.0.0.1]:80", "[[::1]]:80",
      "[localhost]:80", "[]:80",
    ])
  func badAddress(_ text: String) {
    let error = #expect(throws: HTTPServerError.self) { try ListenAddress(parsing: text) }
    #expect(error?.operation == "listen address")
    #expect(error?.reason.isEmpty == false)
  }
}
