import Glibc
import TestSupport
import Testing

/// Requests for gates on one connection (RFC 9112): pipelined, without a body, and by clients that do not wait for the response.
@Suite struct GateConnectionTests {
  private let service: RunningService
  private let port: UInt16

  init() throws {
    let file = try TemporaryFile(
      "targets: [{ id: db, target: 'route://127.0.0.1' }]\ngates: { app: { targets: [db] }, late: { targets: [none] } }\n"
    )
    service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    port = try #require(service.url.split(separator: ":").last.flatMap { UInt16($0) })
    let url = service.url
    #expect(try eventually { try ServiceReader(url).get("/gates/app")["state"]?.text == "open" })
  }

  /// Sends requests in one piece, the last of which ends the connection; returns the responses.
  private func exchange(_ requests: [String]) throws -> [(status: String, head: String, body: String)] {
    let connection = try RawConnection(to: port)
    connection.send(
      requests.enumerated().map { number, request in
        "\(request)\r\nHost: a\r\n\(number == requests.count - 1 ? "Connection: close\r\n" : "")\r\n"
      }.joined().replacing("Host: a", with: "Host: 127.0.0.1"))
    let text = connection.rest()
    return text.split(separator: "HTTP/1.1 ").map { response in
      let parts = response.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(response.prefix(3)), String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
  }

  private func field(_ name: String, _ head: String) -> String? {
    head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }.map {
      String($0.dropFirst(name.count + 2))
    }
  }

  @Test func pipelinedRequestsAreAnsweredInOrder() throws {
    let answers = try exchange([
      "GET /gates/late?require=open&wait=1m HTTP/1.1\r\nPrefer: wait=60\r\nIf-None-Match: *",
      "GET /gates/app?require=open HTTP/1.1", "HEAD /gates/late?require=open HTTP/1.1", "HEAD /gates/app HTTP/1.1",
      "GET /gates/app HTTP/1.1", "GET /gates/none HTTP/1.1", "DELETE /gates/app HTTP/1.1",
      "GET /gates/app HTTP/1.1\r\nAccept: text/plain",
    ])
    #expect(answers.map(\.status) == ["503", "200", "503", "200", "200", "404", "409", "200"])
    #expect(answers[0].body.contains("\"notRegistered\"") && field("etag", answers[0].head) == nil)
    #expect(
      answers[2].body.isEmpty && field("content-length", answers[2].head) == field("content-length", answers[0].head))
    #expect(answers[3].body.isEmpty && field("etag", answers[3].head) == field("etag", answers[4].head))
    #expect(field("content-length", answers[3].head) == field("content-length", answers[4].head))
    #expect(answers[7].body.hasPrefix("open app since "))
    let tag = try #require(field("etag", answers[4].head))
    let same = try exchange([
      "GET /gates/app HTTP/1.1\r\nIf-None-Match: \(tag)", "HEAD /gates/app HTTP/1.1\r\nIf-None-Match: \(tag)",
    ])
    #expect(
      same.allSatisfy { $0.status == "304" && $0.body.isEmpty && field("content-type", $0.head) == nil }, "\(same)")
  }

  /// The number of requests that wait ends with their connections.
  @Test func clientsThatLeaveWhileTheyWaitLeaveNothing() throws {
    let tag = try #require(field("etag", try exchange(["HEAD /gates/app HTTP/1.1"])[0].head))
    var waiting: [RawConnection] = []
    for number in 0..<50 {
      let connection = try RawConnection(to: port)
      let path = number.isMultiple(of: 2) ? "/gates/app?wait=10m" : "/gates?wait=10m"
      connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: \(tag), *\r\n\r\n")
      waiting.append(connection)
    }
    func connections() throws -> Int {
      let text = try Program.shell("curl -s \(service.url)/metrics").output
      let line = text.split(separator: "\n").first { $0.hasPrefix("reachd_http_connections") }
      return line.flatMap { $0.split(separator: " ").last.flatMap { Int($0) } } ?? -1
    }
    #expect(try eventually { try connections() > 50 }, "the clients do not wait")
    waiting = []
    #expect(try eventually { try (0..<10).contains(connections()) })
    // A change for which no client waits any more.
    let put =
      "curl -s -X PUT -H 'Content-Type: application/json' -d '{\"targets\": [\"db\"]}' \(service.url)/gates/more"
    #expect(try Program.shell(put).output.contains("\"more\""))
    #expect(try exchange(["GET /gates/app?require=open HTTP/1.1"])[0].status == "200")
  }

  @Test func bodiesAreFramedAsForOtherResources() throws {
    let put = "curl -s -o /dev/null -w '%{http_code}' -X PUT -H 'Content-Type: application/json' \(service.url)/gates/a"
    let body = "printf '{\"machine\": \"reachable\"}'"
    #expect(try Program.shell("\(body) | \(put) -H 'Transfer-Encoding: chunked' --data-binary @-").output == "411")
    #expect(try Program.shell(put).output == "400")
    #expect(try Program.shell("head -c 2000000 /dev/zero | \(put) --data-binary @-").output == "413")
    #expect(try Program.shell("\(body) | \(put) -H 'Expect: 100-continue' --data-binary @-").output == "201")
  }
}
