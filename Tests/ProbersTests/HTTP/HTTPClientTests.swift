import Glibc
import Probers
import StatusClient
import TestSupport
import Testing

/// Run once more with `http_proxy=http://127.0.0.1:1` in the environment, it shows that proxies are ignored; setting that
/// inside this process would race with other threads that read the environment.
@Suite struct HTTPClientTests {
  /// Generous: only the test of the timeout waits for its own, shorter one.
  static let patience: Duration = .seconds(20)

  private func get(
    _ answer: String?, path: String = "/", timeout: Duration = patience, maximumBody: Int = 1_000
  ) throws -> (status: Int, contentType: String?, body: String) {
    let server = try RawHTTPServer(answer: answer)
    let reply = try HTTPClient.send(
      .init("http://127.0.0.1:\(server.port)\(path)", timeout: timeout), maximumBody: maximumBody)
    return (reply.status, reply.contentType, String(decoding: reply.body, as: UTF8.self))
  }

  @Test func anAnswerIsReturnedWhole() throws {
    let reply = try get("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    #expect(reply.status == 200)
    #expect(reply.contentType == "application/json")
    #expect(reply.body == "{}")
  }

  @Test func aBodyIsKeptWithEveryStatus() throws {
    let reply = try get("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\ndraft")
    #expect(reply.status == 503)
    #expect(reply.contentType == nil)
    #expect(reply.body == "draft")
  }

  @Test func chunksAreJoined() throws {
    let reply = try get("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    #expect(reply.body == "abcde")
  }

  @Test(
    arguments: [
      ("Thu, 01 Jan 2026 00:00:00 GMT", 1_767_225_600), ("yesterday's", nil),
      ("Sun, 06 Nov 2147483647 08:49:37 GMT", nil),
    ] as [(String, Int?)])
  func aStreamBeginsWithTheTimeOfTheServer(date: String, expected: Int?) throws {
    let server = try RawHTTPServer(
      answer: "HTTP/1.1 200 OK\r\nDate: \(date)\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\n:\n")
    var calls: [String] = []
    let request = HTTPClient.Request("http://127.0.0.1:\(server.port)/", timeout: Self.patience)
    _ = try HTTPClient.stream(request, maximumBody: 0) {
      calls.append("\($0 ?? -1)")
    } receive: { _ in
      calls.append("part")
    }
    #expect(calls == ["\(expected ?? -1)", "part"])
  }

  @Test func redirectsAreAnswersToo() throws {
    let reply = try get("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
    #expect(reply.status == 302)
  }

  @Test func headersAreSentAsGiven() throws {
    let server = try RawHTTPServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
    var sent = HTTPClient.Request("http://127.0.0.1:\(server.port)/a?b=c", timeout: Self.patience)
    sent.headers = ["Accept": "text/plain", "X-Empty": ""]
    _ = try HTTPClient.send(sent, maximumBody: 0)
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("GET /a?b=c HTTP/1.1\r\n"))
    #expect(request.contains("\r\nAccept: text/plain\r\n"))
    #expect(request.contains("\r\nX-Empty:"))
  }

  @Test func aUnixSocketReplacesTheHost() throws {
    let path = "/tmp/probes-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
    defer { unsafe unlink(path) }
    let server = try RawHTTPServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nunix", unixPath: path)
    var request = HTTPClient.Request("http://localhost/status", timeout: Self.patience)
    request.unixSocket = path
    let reply = try HTTPClient.send(request, maximumBody: 10)
    #expect(String(decoding: reply.body, as: UTF8.self) == "unix")
    #expect(server.requests.count == 1)
  }

  @Test func refused() throws {
    let url = "http://127.0.0.1:\(try Loopback.closedPort())/"
    let error = #expect(throws: HTTPClientError.self) {
      try HTTPClient.send(.init(url, timeout: Self.patience), maximumBody: 10)
    }
    #expect(error?.reason == .notConnected)
    #expect(error?.url == url)
    #expect(error?.message.contains("connect") == true, "\(String(describing: error))")
  }

  @Test func silence() {
    let error = #expect(throws: HTTPClientError.self) { try get(nil, timeout: .milliseconds(150)) }
    #expect(error?.reason == .timeout)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\n12345678901",
  ])
  func aLongBodyIsRefused(answer: String) {
    let error = #expect(throws: HTTPClientError.self) { try get(answer, maximumBody: 10) }
    #expect(error?.reason == .bodyTooLarge)
    #expect(error?.message.contains("10 bytes") == true)
  }

  @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200"])
  func brokenAnswersAreErrors(answer: String) {
    let error = #expect(throws: HTTPClientError.self) { try get(answer) }
    #expect(error?.reason == .failed, "\(String(describing: error))")
    #expect(error?.message.isEmpty == false)
  }

  @Test(arguments: [
    "", "127.0.0.1", "ftp://127.0.0.1/", "file:///etc/hostname", "http://", "http://127.0.0.1:99999/",
    "http://127.0.0.1/\r\nX: y", "http://[::1", "http://127.0.0.1/" + String(repeating: "a", count: 9_000),
  ])
  func badURLs(url: String) {
    let error = #expect(throws: HTTPClientError.self) {
      try HTTPClient.send(.init(url, timeout: Self.patience), maximumBody: 10)
    }
    #expect(error?.reason == .badRequest, "\(String(describing: error))")
    #expect(error?.url == url)
  }

  @Test(arguments: [["A": "b\r\nC: d"], ["A\n": "b"], ["": "b"], ["A:": "b"]])
  func badHeaders(headers: [String: String]) {
    var request = HTTPClient.Request("http://127.0.0.1:1/", timeout: Self.patience)
    request.headers = headers
    let error = #expect(throws: HTTPClientError.self) { try HTTPClient.send(request, maximumBody: 10) }
    #expect(error?.reason == .badRequest)
  }
}
