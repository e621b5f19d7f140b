import Locks
import Testing

@testable import StatusClient

@Suite("EventFeed")
struct EventFeedTests {
  /// The messages of a feed, and its end.
  private func follow(_ connection: ScriptedConnection, resumes: Bool = true) -> [String] {
    let messages = Locked<[String]>([])
    let end = EventFeed(connection, path: "/events", resumes: resumes).follow { message in
      let text =
        switch message {
        case .event(let event): "\(event.name) \(event.data)"
        case .interrupted(let reason, let delay): "\(reason), \(delay) s"
        case .oversized: "oversized"
        }
      messages.withLock { $0.append(text) }
    }
    let last =
      switch end {
      case .unexpected(let response): "unexpected \(response.status) \(response.problem)"
      case .failed(.unusable(let error)): "\(error)"
      case .failed(.noResponse(let reason, let hint)): "failed: \(reason), \(hint ?? "no hint")"
      }
    return messages.withLock(\.self) + [last]
  }

  private static let first = "id: 1-5\nevent: status\ndata: a\n\n"

  @Test("A stream continues after the last event when it was interrupted", arguments: [true, false])
  func interrupted(resumes: Bool) {
    let connection = ScriptedConnection([
      .stream(["id: 1-5\nevent: st", "atus\ndata: a\n\n"]),
      .stream([": heartbeat\n\nid: 1-6\nevent: path\ndata: b\n\n"]),
    ])
    #expect(
      follow(connection, resumes: resumes) == [
        "status a", "the service closed the stream, 1 s", "path b", "the service closed the stream, 1 s", "Exhausted()",
      ])
    let requests = resumes ? ["/events", "/events after 1-5", "/events after 1-6"] : ["/events", "/events", "/events"]
    #expect(connection.requests == requests)
  }

  @Test("The delay doubles while no event arrives")
  func delays() {
    let connection = ScriptedConnection([
      .stream([Self.first]), .failure("refused"), .response(ScriptedConnection.problem("too many streams", 503)),
    ])
    #expect(
      follow(connection) == [
        "status a", "the service closed the stream, 1 s", "refused, 2 s", "too many streams, 4 s", "Exhausted()",
      ])
  }

  @Test("A service that never responded ends the feed, with a hint")
  func neverResponded() {
    #expect(follow(ScriptedConnection([.failure("refused", hint: "start it")])) == ["failed: refused, start it"])
    let overloaded = ScriptedConnection([.response(ScriptedConnection.problem("too many streams", 429))])
    #expect(follow(overloaded) == ["failed: too many streams, no hint"])
  }

  @Test("Another response ends the feed, also after events")
  func otherResponse() {
    let connection = ScriptedConnection([
      .stream([Self.first]), .response(ScriptedConnection.problem("no such host", 400)),
    ])
    #expect(
      follow(connection) == ["status a", "the service closed the stream, 1 s", "unexpected 400 no such host"])
    let page = HTTPClient.Response(status: 200, contentType: "text/html", body: Array("<p>\u{1b}[2J".utf8))
    #expect(follow(ScriptedConnection([.response(page)])) == [#"unexpected 200 <p>\u{1B}[2J"#])
  }

  @Test("An event without an end is reported")
  func oversized() {
    let part = "data: " + String(repeating: "x", count: Limits.frameBytes + 1)
    #expect(follow(ScriptedConnection([.stream([Self.first, part])])).contains("oversized"))
  }
}
