import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("Bodies of HTTP requests and answers")
struct HTTPBodyTests {
  let prober = ProberUnderTest()

  private func check(_ server: ScriptedWeb, _ change: (inout HTTPOptions) -> Void) async throws -> CheckResult {
    var options = HTTPOptions()
    change(&options)
    return try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
  }

  @Test("Methods that usually have a body announce an empty one", arguments: ["POST", "PUT", "PATCH"])
  func emptyBody(method: String) async throws {
    let server = try ScriptedWeb(["/": ScriptedWeb.well])
    #expect(try await check(server) { $0.method = method }.state == .up)
    #expect(server.requests.first?.head.contains("\r\nContent-Length: 0") == true, "\(server.requests)")
    #expect(server.requests.first?.has(field: "Transfer-Encoding") == false)
  }

  @Test("Other methods announce no body", arguments: ["GET", "HEAD", "DELETE", "OPTIONS"])
  func noBody(method: String) async throws {
    let server = try ScriptedWeb(["/": ScriptedWeb.well])
    #expect(try await check(server) { $0.method = method }.state == .up)
    #expect(server.requests.first?.has(field: "Content-Length") == false, "\(server.requests)")
  }

  @Test("A body that is too long to prove what it must not contain")
  func tooLong() async throws {
    let server = try ScriptedWeb(["/": "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789 error 789"])
    let result = try await check(server) {
      $0.rejectBody = "error"
      $0.bodyLimit = 10
    }
    #expect(result.state == .unknown && result.reason == .bodyTooLong, "\(result)")
    let found = try await check(server) {
      $0.rejectBody = "5"
      $0.bodyLimit = 10
    }
    #expect(found.state == .down && found.reason == .httpBody, "\(found)")
    let whole = try await check(server) {
      $0.rejectBody = "fatal"
      $0.bodyLimit = 20
    }
    #expect(whole.state == .up, "\(whole)")
    let matched = try await check(server) {
      $0.expectBody = "345"
      $0.bodyLimit = 10
    }
    #expect(matched.state == .up, "\(matched)")
  }

  @Test("More than a MiB, if the module permits it")
  func long() async throws {
    let text = String(repeating: "x", count: 3 << 20) + "done"
    let server = try ScriptedWeb(["/": "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"])
    #expect(try await check(server) { $0.rejectBody = "done" }.reason == .bodyTooLong)
    let result = try await check(server) {
      $0.rejectBody = "done"
      $0.bodyLimit = 4 << 20
    }
    #expect(result.state == .down && result.reason == .httpBody, "\(result)")
  }

  @Test("A body is decoded if the module asks for its encoding")
  func encoded() async throws {
    // "all is well", by gzip(1).
    let bytes: [UInt8] = [
      31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 204, 201, 81, 200, 44, 86, 40, 79, 205, 201, 1, 0, 103, 205, 198, 21, 11, 0,
      0, 0,
    ]
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n"
      Loopback.send(Array(head.utf8) + bytes, to: peer)
    }
    var options = HTTPOptions()
    options.expectBody = "^all is well$"
    options.headers = [.init(name: "accept-encoding", value: "gzip")]
    let result = try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
    #expect(result.state == .up && result.evidence.http?.bodyBytes == 11, "\(result)")
    options.headers = []
    let plain = try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
    #expect(plain.state == .down && plain.reason == .httpBody, "\(plain)")
  }

  @Test("The field Accept-Encoding is sent once")
  func acceptedEncodings() async throws {
    let server = try ScriptedWeb(["/": ScriptedWeb.well])
    let result = try await check(server) { $0.headers = [.init(name: "Accept-Encoding", value: "gzip, deflate")] }
    #expect(result.state == .up)
    let lines = server.requests[0].head.lowercased().split(separator: "\r\n").filter { $0.hasPrefix("accept-encoding") }
    #expect(lines == ["accept-encoding: gzip, deflate"])
  }

  @Test("A malformed body is no reset", arguments: ["zz\r\n", "4\r\nwellxx", "ffffffffffffffffff\r\n"])
  func malformedChunk(chunk: String) async throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let server = try ScriptedWeb(keepsOpen: true, ["/": head + chunk])
    let result = try await check(server) { _ in }
    #expect(result.state == .down && result.reason == .noReply, "\(result)")
    #expect(result.detail?.contains("chunk") == true, "\(result)")
  }

  @Test("An encoding that the body does not have")
  func malformedEncoding() async throws {
    let server = try ScriptedWeb(["/": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nwell"])
    let result = try await check(server) { $0.headers = [.init(name: "Accept-Encoding", value: "gzip")] }
    #expect(result.state == .down && result.reason == .noReply, "\(result)")
  }
}
