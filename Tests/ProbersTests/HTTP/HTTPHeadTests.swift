import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("Unusual heads of HTTP responses")
struct HTTPHeadTests {
  let prober = ProberUnderTest()

  private func check(
    _ answer: String, expecting value: String? = nil, method: String = "GET", keepsOpen: Bool = false
  ) async throws -> CheckResult {
    let server = try ScriptedWeb(
      keepsOpen: keepsOpen,
      ["/": answer, "/next": ScriptedWeb.well, "/next%20page": ScriptedWeb.well])
    var options = HTTPOptions()
    options.method = method
    options.maximumRedirects = 1
    options.expectHeaders = value.map { [.init(name: "X-A", value: $0)] } ?? []
    return try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
  }

  @Test(
    "A folded line continues the previous one (RFC 9112 §5.2)",
    arguments: [
      "X-A: one\r\n two", "X-A: one \r\n\t \ttwo", "X-A:\r\n one\r\n two", "X-A: one\r\n \r\n two",
      "X-B: none\r\nX-A: one\r\n two\r\nX-C: three",
    ])
  func foldedField(lines: String) async throws {
    let result = try await check("HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: 0\r\n\r\n", expecting: "^one two$")
    #expect(result.state == .up, "\(result.detail ?? "")")
  }

  @Test(
    "A continued Location is complete",
    arguments: [
      "Location:\r\n /next", "X-A: one\r\n \r\nLocation: /next", "Location: /next\r\n\tpage",
      "Location: /next\r\nX-A: one\r\n two",
    ], [nil, ""])
  func foldedLocation(lines: String, expecting value: String?) async throws {
    let result = try await check("HTTP/1.1 301 Moved\r\n\(lines)\r\nContent-Length: 0\r\n\r\n")
    #expect(result.state == .up && result.evidence.http?.redirects == 1, "\(result.detail ?? "")")
  }

  @Test("A continuation line of another field is no Location", arguments: [nil, ""])
  func foldedAway(expecting value: String?) async throws {
    let head = "HTTP/1.1 301 Moved\r\nX-A: one\r\n Location: /next\r\nContent-Length: 0\r\n\r\n"
    #expect(try await check(head, expecting: value).evidence.http?.redirects == 0)
  }

  @Test("Of several Locations the first one counts")
  func severalLocations() async throws {
    let head = "HTTP/1.1 301 Moved\r\nLocation: /next\r\nLocation: /missing\r\nContent-Length: 0\r\n\r\n"
    #expect(try await check(head).state == .up)
  }

  @Test("Trailers are not header fields (RFC 9110 §6.5)")
  func trailers() async throws {
    let body = "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
    let field = try await check("HTTP/1.1 200 OK\r\n\(body)X-A: one two\r\n\r\n", expecting: "^one two$")
    #expect(field.reason == .httpBody)
    let location = try await check("HTTP/1.1 301 Moved\r\n\(body)Location: /next\r\n\r\n")
    #expect(location.evidence.http?.redirects == 0 && location.reason == .httpStatus)
    let both = "HTTP/1.1 301 Moved\r\nLocation: /next\r\n\(body)Location: /missing\r\n\r\n"
    #expect(try await check(both).state == .up)
  }

  @Test("An unrequested 101 is reported as that status", arguments: [false, true])
  func switching(keepsOpen: Bool) async throws {
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    let result = try await check(head, keepsOpen: keepsOpen)
    #expect(result.state == .down && result.reason == .httpStatus, "\(result.detail ?? "")")
    #expect(result.evidence.http?.status == 101)
    #expect(result.detail?.contains("101") == true)
  }

  @Test(
    "An invalid Content-Length is no response (RFC 9112 §6.3)",
    arguments: [
      "-2", "+2", "2x", "0x2", "abc", "", "2 2", "2,", "2, 3", "9223372036854775808", "99999999999999999999999",
    ])
  func falseLength(length: String) async throws {
    let result = try await check("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nok")
    #expect(result.state == .down && result.reason == .noReply, "\(result.state)")
  }

  @Test("Different lengths are invalid, equal ones are one")
  func twoLengths() async throws {
    func answer(_ other: String) -> String {
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: \(other)\r\n\r\nok"
    }
    #expect(try await check(answer("3")).reason == .noReply)
    #expect(try await check(answer("2")).state == .up)
    #expect(try await check("HTTP/1.1 200 OK\r\nContent-Length: 2 , 2\r\n\r\nok").state == .up)
  }

  @Test("The length of an impossible body is ignored")
  func lengthOfNoBody() async throws {
    #expect(try await check("HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n", method: "HEAD").state == .up)
    #expect(try await check("HTTP/1.1 204 No Content\r\nContent-Length: 2, 3\r\n\r\n").state == .up)
  }
}
