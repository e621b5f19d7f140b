import Glibc
import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("Slow, endless, truncated and invalid HTTP responses")
struct HTTPLiarTests {
  let prober = ProberUnderTest()

  private func check(
    timeout: Duration = patience, expectBody: String? = nil, _ script: @escaping @Sendable (Int32) -> Void
  ) async throws -> CheckResult {
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      script(peer)
    }
    var options = HTTPOptions()
    options.expectBody = expectBody
    return try await prober.check("http://127.0.0.1:\(server.port)/", .http(options), timeout: timeout)
  }

  private static func say(_ text: String, to peer: Int32) { Loopback.send(Array(text.utf8), to: peer) }

  @Test func portWithoutListener() async throws {
    #expect(try await prober.check("http://127.0.0.1:\(Loopback.closedPort())/").reason == .refused)
  }

  @Test func lessThanWasPromised() async throws {
    let result = try await check { Self.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", to: $0) }
    #expect(result.state == .down)
    #expect(result.reason == .reset)
    let told = CheckResult.HTTP(status: 200, version: "1.1", bodyBytes: 5, contentLength: 100)
    #expect(result.evidence.http == told, "as far as it came")
  }

  @Test func onlyProvisionalAnswers() async throws {
    let result = try await check(timeout: .milliseconds(200)) { peer in
      Self.say("HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n", to: peer)
      TCPServer.untilClosed(peer)
    }
    #expect(result.reason == .timeout)
    #expect(result.evidence.http == nil)
  }

  @Test("A pattern that cannot be matched is no success")
  func expensiveRejection() async throws {
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      Self.say("HTTP/1.1 200 OK\r\n\r\n\(String(repeating: "z", count: 40)) fatal error", to: peer)
    }
    var options = HTTPOptions()
    options.rejectBody = "(?s)^(z+)+y|error"
    let result = try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
    #expect(result.state == .unknown)
  }

  @Test func moreThanWasPromised() async throws {
    let result = try await check { Self.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", to: $0) }
    #expect(result.state == .up)
    #expect(result.evidence.http?.bodyBytes == 2)
  }

  @Test func closedWithoutAWord() async throws {
    #expect(try await check { _ in }.reason == .reset)
  }

  @Test func reset() async throws {
    #expect(try await check { TCPServer.reset($0) }.reason == .reset)
  }

  @Test func noHTTPAtAll() async throws {
    let result = try await check { Self.say("SSH-2.0-OpenSSH_9.2\r\n", to: $0) }
    #expect(result.reason == .noReply)
    #expect(result.detail == "the answer is not HTTP")
  }

  @Test func headersWithoutEnd() async throws {
    let result = try await check { peer in
      Self.say("HTTP/1.1 200 OK\r\n", to: peer)
      for index in 0..<4_000 { Self.say("X-\(index): \(String(repeating: "x", count: 40))\r\n", to: peer) }
    }
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
    #expect(result.detail?.contains("65536") == true)
  }

  @Test func oneHeaderWithoutEnd() async throws {
    let result = try await check { peer in
      Self.say("HTTP/1.1 200 OK\r\nX: ", to: peer)
      for _ in 0..<100 { Self.say(String(repeating: "x", count: 4_096), to: peer) }
    }
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
  }

  @Test func bodyWithoutEnd() async throws {
    let endless: @Sendable (Int32) -> Void = { peer in
      Self.say("HTTP/1.1 200 OK\r\n\r\n", to: peer)
      for _ in 0..<1_000 { Self.say(String(repeating: "x", count: 4_096), to: peer) }
    }
    let result = try await check(endless)
    #expect(result.state == .up, "nothing was asked of the body")
    #expect(result.evidence.http?.bodyBytes == 1 << 20)
    #expect(try await check(expectBody: "y", endless).reason == .httpBody)
  }

  @Test func dripping() async throws {
    let result = try await check(timeout: .milliseconds(400)) { peer in
      Self.say("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", to: peer)
      for _ in 0..<100 {
        Self.say("x", to: peer)
        pause(.milliseconds(20), because: "the server sends slowly")
      }
    }
    #expect(result.state == .down)
    #expect(result.reason == .timeout)
  }

  @Test func silence() async throws {
    let result = try await check(timeout: .milliseconds(200)) { TCPServer.untilClosed($0) }
    #expect(result.state == .down)
    #expect(result.reason == .timeout)
    #expect(result.phases.map(\.name) == [.connect])
  }

  @Test func provisionalAnswers() async throws {
    let result = try await check { peer in
      Self.say("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", to: peer)
    }
    #expect(result.state == .up)
    #expect(result.evidence.http?.status == 204)
  }

  @Test(
    "Status lines of other versions", arguments: ["HTTP/1.0 200 OK\r\n\r\nok", "HTTP/9.9 200 OK\r\n\r\nok"])
  func versions(answer: String) async throws {
    let result = try await check { Self.say(answer, to: $0) }
    #expect((result.state == .up) == answer.hasPrefix("HTTP/1.0"))
  }
}
