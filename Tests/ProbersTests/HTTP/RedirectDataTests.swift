import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("Cookies, names and user information after redirects")
struct RedirectDataTests {
  let prober = ProberUnderTest()

  private func check(
    _ server: ScriptedWeb, _ path: String = "/", _ change: (inout HTTPOptions) -> Void = { _ in }
  ) async throws -> CheckResult {
    var options = HTTPOptions()
    options.maximumRedirects = 10
    change(&options)
    return try await prober.check("http://127.0.0.1:\(server.port)\(path)", .http(options))
  }

  private static func redirect(_ location: String, _ fields: String...) -> String {
    "HTTP/1.1 302 Found\r\nLocation: \(location)\r\n\(fields.map { $0 + "\r\n" }.joined())Content-Length: 0\r\n\r\n"
  }

  @Test("The session of a login is sent to the next page")
  func login() async throws {
    let server = try ScriptedWeb([
      "/login": Self.redirect("/home", "Set-Cookie: SID=abc; Path=/; HttpOnly", "set-cookie: theme=dark"),
      "/home": ScriptedWeb.well,
    ])
    let result = try await check(server, "/login") {
      $0.method = "POST"
      $0.body = "u=1"
    }
    #expect(result.state == .up, "\(result)")
    #expect(server.requests.map(\.line) == ["POST /login", "GET /home"])
    #expect(server.requests[0].has(field: "Cookie") == false)
    #expect(server.requests[1].head.contains("\r\nCookie: SID=abc; theme=dark"))
  }

  @Test("Cookies are sent where they belong")
  func scopes() async throws {
    let server = try ScriptedWeb([
      "/a/first": Self.redirect(
        "/a/second", "Set-Cookie: here=1", "Set-Cookie: elsewhere=1; Path=/b", "Set-Cookie: safe=1; Secure",
        "Set-Cookie: other=1; Domain=example.test", "Set-Cookie: past=1; Max-Age=0",
        "Set-Cookie: old=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Set-Cookie: =1", "Set-Cookie: none",
        "Set-Cookie: later=1; Expires=Fri, 01-Jan-99 00:00:00 GMT; Max-Age=60"),
      "/a/second": Self.redirect("/c", "Set-Cookie: here=2; Max-Age=5"),
      "/c": Self.redirect("/a/third"),
      "/a/third": ScriptedWeb.well,
    ])
    #expect(try await check(server, "/a/first").state == .up)
    let sent = server.requests.map { request in
      request.head.split(separator: "\r\n").first { $0.hasPrefix("Cookie: ") }.map { String($0.dropFirst(8)) }
    }
    #expect(sent == [nil, "here=1; later=1", nil, "later=1; here=2"])
  }

  @Test("Cookies of the module and of the server are sent together")
  func ownCookies() async throws {
    let server = try ScriptedWeb(["/": Self.redirect("/next", "Set-Cookie: b=2"), "/next": ScriptedWeb.well])
    #expect(try await check(server) { $0.headers = [.init(name: "Cookie", value: "a=1")] }.state == .up)
    #expect(server.requests[1].head.contains("\r\nCookie: a=1; b=2"))
  }

  @Test("Cookies of one check are not sent by another")
  func separateChecks() async throws {
    let server = try ScriptedWeb(["/": Self.redirect("/next", "Set-Cookie: b=2"), "/next": ScriptedWeb.well])
    for _ in 0..<3 { #expect(try await check(server).state == .up) }
    #expect(server.requests.filter { $0.line == "GET /" }.allSatisfy { !$0.has(field: "Cookie") })
  }

  @Test("A cookie of one host is not sent to another")
  func otherHost() async throws {
    let other = try ScriptedWeb(host: 2, ["/": ScriptedWeb.well])
    let server = try ScriptedWeb(["/": Self.redirect("http://127.0.0.2:\(other.port)/", "Set-Cookie: b=2")])
    #expect(try await check(server).state == .up)
    #expect(other.requests.count == 1 && !other.requests[0].has(field: "Cookie"))
  }

  @Test("User information in a Location is sent as a login")
  func userInformation() async throws {
    let server = try ScriptedWeb(["/next": Self.redirect("/last"), "/last": ScriptedWeb.well])
    let first = try ScriptedWeb(["/": Self.redirect("http://us%65r:p%40ss@127.0.0.1:\(server.port)/next")])
    let result = try await check(first)
    #expect(result.state == .up, "\(result)")
    // user:p@ss
    #expect(server.requests.map { $0.head.contains("\r\nAuthorization: Basic dXNlcjpwQHNz") } == [true, true])
    #expect(!first.requests[0].has(field: "Authorization"))
  }

  @Test("A long Location", arguments: [2_100, 8_000])
  func longLocation(count: Int) async throws {
    let path = "/" + String(repeating: "x", count: count)
    let server = try ScriptedWeb(["/": Self.redirect(path), path: ScriptedWeb.well])
    let result = try await check(server)
    #expect(result.state == .up, "\(result)")
    let tooLong = try ScriptedWeb(["/": Self.redirect(path + String(repeating: "x", count: 8_192))])
    let refused = try await check(tooLong)
    #expect(refused.state == .down && refused.reason == .httpStatus, "\(refused)")
  }

  @Test("The field Host is sent to the same host after a redirect to another port")
  func host() async throws {
    let other = try ScriptedWeb(["/": ScriptedWeb.well])
    let third = try ScriptedWeb(host: 2, ["/": ScriptedWeb.well])
    let server = try ScriptedWeb([
      "/": Self.redirect("http://127.0.0.1:\(other.port)/"), "/away": Self.redirect("http://127.0.0.2:\(third.port)/"),
    ])
    let fields = [HTTPOptions.Field(name: "Host", value: "inner.test"), .init(name: "X-Secret", value: "s3")]
    #expect(try await check(server) { $0.headers = fields }.state == .up)
    #expect(other.requests[0].head.contains("\r\nHost: inner.test") && !other.requests[0].has(field: "X-Secret"))
    #expect(try await check(server, "/away") { $0.headers = fields }.state == .up)
    #expect(third.requests[0].head.contains("\r\nHost: 127.0.0.2:"))
  }
}

@Suite("TLS after redirects")
struct RedirectTLSTests {
  let prober = ProberUnderTest()
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  private func server(
    _ name: String, names: String, days: Int = 30, _ answers: [String: String]
  ) throws -> TLSServer {
    let (certificate, key) = try authority.issue(name, names: names, days: days)
    return try TLSServer(certificate: certificate, key: key) { peer in
      let words = String(decoding: peer.receive(), as: UTF8.self).split(separator: " ")
      peer.send(answers[String(words.dropFirst().first ?? "")] ?? ScriptedWeb.redirect(404, "/"))
      peer.close()
    }
  }

  private func check(_ server: TLSServer, _ change: (inout HTTPOptions) -> Void) async throws -> CheckResult {
    var options = HTTPOptions()
    options.maximumRedirects = 3
    options.tls.authorityFile = authority.certificate
    change(&options)
    return try await prober.check("https://127.0.0.1:\(server.port)/", .http(options))
  }

  @Test("The configured name applies after a redirect on the same host")
  func serverName() async throws {
    let server = try server(
      "inner", names: "DNS:inner.test", ["/": ScriptedWeb.redirect(302, "/next"), "/next": ScriptedWeb.well])
    let result = try await check(server) { $0.tls.serverName = "inner.test" }
    #expect(result.state == .up, "\(result)")
    let byField = try await check(server) { $0.headers = [.init(name: "Host", value: "inner.test")] }
    #expect(byField.state == .up, "\(byField)")
  }

  @Test("The configured name does not apply to another host")
  func otherHost() async throws {
    let other = try server("other", names: "DNS:inner.test", ["/": ScriptedWeb.well])
    let server = try server(
      "inner", names: "DNS:inner.test", ["/": ScriptedWeb.redirect(302, "https://localhost:\(other.port)/")])
    let result = try await check(server) { $0.tls.serverName = "inner.test" }
    #expect(result.state == .down && result.reason == .certificateNameMismatch, "\(result)")
  }

  @Test("The earliest expiry of all servers is reported")
  func earliestExpiry() async throws {
    let last = try server("last", names: "IP:127.0.0.1", days: 20, ["/": ScriptedWeb.well])
    let first = try server(
      "first", names: "IP:127.0.0.1", days: 5, ["/": ScriptedWeb.redirect(302, "https://127.0.0.1:\(last.port)/")])
    let alone = try await check(last) { _ in }
    let both = try await check(first) { _ in }
    #expect(both.state == .up && both.evidence.http?.redirects == 1, "\(both)")
    #expect(both.evidence.tls?.subject == "CN=last")
    for expiry in [\CheckResult.TLS.earliestExpiry, \.pathExpiry] {
      let days = try #require(both.evidence.tls?[keyPath: expiry]).microseconds / 86_400_000_000
      let whole = try #require(alone.evidence.tls?[keyPath: expiry]).microseconds / 86_400_000_000
      #expect(whole - days == 15)
    }
  }
}
