import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("Requests after redirects (RFC 9110 §15.4)")
struct RedirectMethodTests {
  let prober = ProberUnderTest()

  private func check(
    _ server: ScriptedWeb, _ path: String = "/", method: String = "GET", body: String? = nil
  ) async throws -> CheckResult {
    var options = HTTPOptions()
    options.method = method
    options.body = body
    options.headers = [.init(name: "X-Secret", value: "s3"), .init(name: "Content-Type", value: "text/x-check")]
    options.maximumRedirects = 5
    return try await prober.check("http://127.0.0.1:\(server.port)\(path)", .http(options))
  }

  @Test("307 and 308 repeat the request", arguments: [307, 308], ["POST", "PUT"])
  func sameRequest(status: Int, method: String) async throws {
    let server = try ScriptedWeb(["/": ScriptedWeb.redirect(status, "/next"), "/next": ScriptedWeb.well])
    #expect(try await check(server, method: method, body: "payload").state == .up)
    #expect(server.requests.map(\.line) == ["\(method) /", "\(method) /next"])
    #expect(server.requests.map(\.body) == ["payload", "payload"])
    #expect(server.requests.allSatisfy { $0.has(field: "X-Secret") && $0.has(field: "Content-Type") })
  }

  @Test("Other origins receive the method without the caller's fields", arguments: [307, 308])
  func sameMethodElsewhere(status: Int) async throws {
    let other = try ScriptedWeb(["/next": ScriptedWeb.well])
    let server = try ScriptedWeb(["/": ScriptedWeb.redirect(status, "http://127.0.0.1:\(other.port)/next")])
    for method in ["DELETE", "HEAD", "GET"] {
      #expect(try await check(server, method: method).state == .up)
    }
    #expect(other.requests.map(\.line) == ["DELETE /next", "HEAD /next", "GET /next"])
    #expect(!other.requests.contains { $0.has(field: "X-Secret") })
  }

  @Test("A body is not sent to another server", arguments: [307, 308])
  func bodyStays(status: Int) async throws {
    let other = try ScriptedWeb(["/next": ScriptedWeb.well])
    for elsewhere in ["http://127.0.0.1:\(other.port)/next", "http://127.0.0.2:\(other.port)/next"] {
      let server = try ScriptedWeb(["/": ScriptedWeb.redirect(status, elsewhere)])
      let result = try await check(server, method: "POST", body: "payload")
      #expect(result.state == .down && result.reason == .httpStatus)
      #expect(result.detail?.contains("\(status)") == true && result.detail?.contains("body") == true)
      #expect(result.evidence.http?.status == status)
    }
    #expect(other.requests.isEmpty)
  }

  @Test("A body is not sent with another scheme")
  func bodyStaysInItsScheme() async throws {
    let other = try ScriptedWeb(["/next": ScriptedWeb.well])
    let server = try ScriptedWeb(["/": ScriptedWeb.redirect(307, "https://127.0.0.1:\(other.port)/next")])
    let result = try await check(server, method: "POST", body: "payload")
    #expect(result.reason == .httpStatus && result.detail?.contains("body") == true)
  }

  @Test("Other redirects make GET, or keep HEAD", arguments: [301, 302, 303])
  func becomesGet(status: Int) async throws {
    let server = try ScriptedWeb(["/": ScriptedWeb.redirect(status, "/next"), "/next": ScriptedWeb.well])
    for method in ["POST", "PUT", "DELETE", "HEAD"] {
      #expect(try await check(server, method: method, body: method == "POST" ? "payload" : nil).state == .up)
    }
    let second = server.requests.filter { $0.line.hasSuffix("/next") }
    #expect(second.map(\.line) == ["GET /next", "GET /next", "GET /next", "HEAD /next"])
    #expect(second.allSatisfy { $0.body.isEmpty && !$0.has(field: "Content-Length") && !$0.has(field: "Content-Type") })
  }

  @Test("Header fields are sent to their origin only", arguments: [301, 302, 303, 307, 308])
  func fieldsStayWithTheirOrigin(status: Int) async throws {
    let other = try ScriptedWeb(["/next": ScriptedWeb.well])
    let server = try ScriptedWeb([
      "/": ScriptedWeb.redirect(status, "/next"), "/next": ScriptedWeb.well,
      "/away": ScriptedWeb.redirect(status, "http://127.0.0.1:\(other.port)/next"),
    ])
    #expect(try await check(server).state == .up)
    #expect(try await check(server, "/away").state == .up)
    #expect(server.requests.count == 3 && server.requests.allSatisfy { $0.has(field: "X-Secret") })
    #expect(other.requests.count == 1 && !other.requests[0].has(field: "X-Secret"))
  }

  @Test("A removed field is not sent again")
  func oneAfterTheOther() async throws {
    let other = try ScriptedWeb(["/next": ScriptedWeb.well])
    let server = try ScriptedWeb([
      "/": ScriptedWeb.redirect(302, "/second"), "/second": ScriptedWeb.redirect(307, "/third"),
      "/third": ScriptedWeb.redirect(308, "http://127.0.0.1:\(other.port)/next"),
    ])
    #expect(try await check(server, method: "POST", body: "payload").state == .up)
    #expect(server.requests.map(\.line) == ["POST /", "GET /second", "GET /third"])
    #expect(other.requests.map(\.line) == ["GET /next"])
    #expect(server.requests.allSatisfy { $0.has(field: "X-Secret") } && !other.requests[0].has(field: "X-Secret"))
    #expect(!server.requests.dropFirst().contains { $0.has(field: "Content-Type") })
  }
}
