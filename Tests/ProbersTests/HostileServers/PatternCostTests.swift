import Probers
import ReachabilityModel
import TestSupport
import Testing

/// A match has a limit of steps for each place of the text; a server can send a text with many expensive places.
@Suite("Texts that are expensive to match")
struct PatternCostTests {
  /// Where the text is.
  enum Place: CaseIterable {
    case body, rejectedBody, headerFields, answerOfTCP
  }

  static let expensive = "(z+)+y"
  /// About a hundred thousand steps at each place, fewer than the limit.
  static let part = String(repeating: "z", count: 16)

  let prober = ProberUnderTest()

  private func check(_ place: Place, _ pattern: String, _ part: String, count: Int) async throws -> CheckResult {
    let text = String(repeating: part + " ", count: count) + "xy"
    let answer =
      switch place {
      case .body, .rejectedBody: "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
      case .headerFields:
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Text: \(part) xy\r\n", count: count) + "Content-Length: 0\r\n\r\n"
      case .answerOfTCP: text
      }
    let server = try TCPServer { peer in
      if place != .answerOfTCP { _ = Loopback.receive(4_096, from: peer) }
      Loopback.send(Array(answer.utf8), to: peer)
      TCPServer.untilClosed(peer)
    }
    var options = HTTPOptions()
    switch place {
    case .body: options.expectBody = pattern
    case .rejectedBody: options.rejectBody = pattern
    case .headerFields: options.expectHeaders = [HTTPOptions.Field(name: "X-Text", value: pattern)]
    case .answerOfTCP:
      return try await prober.check("tcp://127.0.0.1:\(server.port)", .tcp(TCPOptions(expect: pattern)))
    }
    return try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
  }

  @Test("The match is given up", arguments: Place.allCases)
  func expensive(place: Place) async throws {
    let count = place == .body || place == .rejectedBody ? 50_000 : 2_000
    let result = try await check(place, Self.expensive, Self.part, count: count)
    #expect(result.state == .unknown && result.reason == .cancelled)
    #expect(result.detail == "whether the expression matches cannot be found out: it takes too long")
  }

  @Test(
    "Expressions of other forms have the same limit",
    arguments: [
      "(z+)+y|(z+)+q", "(?i)(Z+)+y", "(?s)(z+)+y.", "(?x) (z+)+ y # comment", "(*UCP)(z+)+y", "(*UTF)(*UCP)(z+)+y",
      "(?:(z+)+)y", "(?<!q)(z+)+y", "((z+)+)+y", "(?C7)(z+)+y",
    ])
  func forms(pattern: String) async throws {
    let result = try await check(.body, pattern, Self.part, count: 50_000)
    #expect(result.state == .unknown)
  }

  @Test(
    "Expressions that are not expensive match texts of any length",
    arguments: ["xy", "x?y$", "(?s)z.*y", "a|xy", "^z", "(?x) xy # comment"])
  func inexpensive(pattern: String) async throws {
    #expect(try await check(.body, pattern, "zz", count: 300_000).state == .up)
  }

  @Test("Errors are found where the user wrote them", arguments: ["a)", "(?:", "*a", "a)|(b", "(*NOTHING)a"])
  func errors(pattern: String) {
    #expect(ProberPatternSyntax.diagnostic(pattern)?.contains("is not a regular expression") == true)
  }
}
