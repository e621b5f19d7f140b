import Locks
import Logging
import NetworkReachability
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// What an answer leaves in the log, and what every answer carries.
@Suite struct AccessLogTests {
  /// Keeps the metadata of every line.
  private struct Notebook: LogHandler {
    let lines: OutputLines
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { lines.add((event.metadata ?? [:]).mapValues { "\($0)" }) }
  }

  private func logged(_ target: String, _ headers: HTTPHeaders = [:], method: String = "GET") throws -> [String:
    String]?
  {
    let lines = OutputLines()
    let logger = Logger(label: "access", factory: { _ in Notebook(lines: lines) })
    let service = try ScriptedService(.wired, .init { $0.accessLog = logger })
    let response = try service.ask(target, headers, method: method)
    service.router.environment.answered(
      HTTPAccess(
        request: HTTPRequest(method: method, target: target, headers: headers), target: target, peer: "10.0.0.7:4711",
        response: response, nanoseconds: 1_234_567))
    return lines.all.first
  }

  @Test func accessLineContainsPeerRequestAndResult() throws {
    let line = try #require(
      try logged("/hosts/10.0.0.9?timeout=1s", ["X-Request-Id": "mine", "User-Agent": "curl/8 \"x\""]))
    #expect(
      line.filter { $0.key != "bytes" } == [
        "method": "GET", "target": "/hosts/10.0.0.9?timeout=REDACTED", "route": "/hosts/{host}", "status": "200",
        "peer": "10.0.0.7:4711", "microseconds": "1234", "request": "mine", "agent": "curl/8 \"x\"",
      ])
    #expect(Int(line["bytes"] ?? "") ?? 0 > 100)
    let head = try #require(try logged("/status", method: "HEAD"))
    #expect(head["bytes"] == "0" && head["route"] == "/status")
    let stream = try #require(try logged("/events"))
    #expect(stream["bytes"] == nil && stream["status"] == "200")
    #expect(try logged("/nothing")?["route"] == nil)
  }

  @Test func accessLogIsOffByDefault() throws {
    let lines = OutputLines()
    let service = try ScriptedService()
    let answer = HTTPAccess(
      request: nil, target: "/", peer: "", response: try service.ask("/status"), nanoseconds: 0)
    service.router.environment.answered(answer)
    let logger = Logger(label: "access", factory: { _ in Notebook(lines: lines) })
    service.service.change(to: .init { $0.accessLog = logger })
    service.router.environment.answered(answer)
    #expect(lines.all.count == 1)
    #expect(lines.all.first?["method"] == "-")
    service.service.change(to: .init())
    service.router.environment.answered(answer)
    #expect(lines.all.count == 1)
  }

  @Test(arguments: [
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later", true),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
    ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
    ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false),
    ("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", false), ("", false), ("---", false),
  ])
  func validTraceparentIsLogged(header: String, isValid: Bool) throws {
    let line = try #require(try logged("/status", ["traceparent": header]))
    #expect(line["trace"] == (isValid ? "0af7651916cd43dd8448eb211c80319c" : nil))
    #expect(line["parent"] == (isValid ? "b7ad6b7169203331" : nil))
  }

  @Test func sharedDocumentHasNoRequestIDWithoutAccessLog() throws {
    let service = try ScriptedService()
    for target in ["/status", "/interfaces", "/openapi.yaml"] {
      #expect(try service.ask(target).headers["X-Request-Id"] == nil)
      #expect(try service.ask(target, ["X-Request-Id": "mine"]).headers["X-Request-Id"] == "mine")
    }
  }

  @Test func everyLoggedResponseHasARequestID() throws {
    let log = Logger(label: "access", factory: { _ in Notebook(lines: OutputLines()) })
    let service = try ScriptedService(.wired, .init { $0.accessLog = log })
    let tag = try #require(try service.ask("/status").headers["ETag"])
    var seen: Set<String> = []
    for (target, method, headers) in [
      ("/status", "GET", [:]), ("/status", "HEAD", [:]), ("/status", "OPTIONS", [:]), ("/status", "POST", [:]),
      ("/status", "GET", ["If-None-Match": tag]), ("/status", "GET", ["Host": "evil.example"]),
      ("/interfaces", "GET", [:]),
      ("/hosts/10.0.0.9", "GET", [:]), ("/hosts/localhost", "GET", [:]), ("/hosts/a:1", "GET", [:]),
      ("/events", "GET", [:]),
      ("/livez", "GET", [:]), ("/metrics", "GET", [:]), ("/openapi.yaml", "GET", [:]), ("/", "GET", [:]),
      ("/none", "GET", [:]),
      ("/status?x", "GET", [:]), ("*", "OPTIONS", [:]),
    ] as [(String, String, HTTPHeaders)] {
      let made = try #require(try service.ask(target, headers, method: method).headers["X-Request-Id"], "\(target)")
      #expect(seen.insert(made).inserted && made.wholeMatch(of: /[0-9a-f]{15}/) != nil)
      var named = headers
      named["X-Request-Id"] = "a-1.b_2"
      #expect(try service.ask(target, named, method: method).headers["X-Request-Id"] == "a-1.b_2", "\(target)")
      named["X-Request-Id"] = "not fit"
      #expect(try service.ask(target, named, method: method).headers["X-Request-Id"] != "not fit")
    }
    let refusal = service.router.environment.refusal(RequestRefusal(rule: .host, status: 400, detail: "No."), of: nil)
    #expect(refusal.headers["X-Request-Id"] != nil)
  }
}

/// Lines that several threads may add to.
final class OutputLines: Sendable {
  private let lines = Locked<[[String: String]]>([])
  func add(_ line: [String: String]) { lines.withLock { $0.append(line) } }
  var all: [[String: String]] { lines.withLock(\.self) }
}
