import EventLoop
import JSONFormat
import Locks
import TerminalUI
import TestSupport
import Testing

@testable import StatusClient

@Suite("ServiceFeed")
struct ServiceFeedTests {
  /// The messages of a feed up to its end; times are left out.
  private func messages(_ connection: ScriptedConnection) throws -> [String] {
    let mailbox = try Mailbox<ServiceFeed.Message>()
    ServiceFeed(connection, mailbox).start()
    let texts = Locked<[String]>([])
    let hasEnded = eventually(within: patience) {
      let new = mailbox.take().messages.map(Self.text)
      texts.withLock { $0 += new }
      return texts.withLock { $0.contains { $0.hasPrefix("end: ") } }
    }
    #expect(hasEnded)
    return texts.withLock(\.self)
  }

  private static func text(_ message: ServiceFeed.Message) -> String {
    switch message {
    case .connection(.connecting): "connecting"
    case .connection(.live): "live"
    case .connection(.disconnected(_, let reason, _)): "disconnected: \(reason)"
    case .clock(let time, _): "clock \(time)"
    case .overview(let document): "overview \(document["n"]?.string ?? "")"
    case .gates(let document): "gates \(document["n"]?.string ?? "")"
    case .fleet(let targets): "fleet \(targets.count)"
    case .past(let document): "past \(document["n"]?.string ?? "")"
    case .event(let type, let data): "\(type) \(data["n"]?.string ?? "")"
    case .document(.target(let id, let value)): "document \(id) \(value["n"]?.string ?? "")"
    case .document(.failed(let id, let problem)): "no document \(id): \(problem)"
    case .unavailable(let reason): "end: \(reason)"
    case .unusable(let error): "end: \(error)"
    }
  }

  private static let past = "/events"
  private static let documents = [
    "/targets/overview": [ScriptedConnection.json(#"{"n": "o"}"#)],
    "/gates": [ScriptedConnection.json(#"{"n": "g"}"#)], past: [ScriptedConnection.json(#"{"n": "p"}"#)],
  ]
  private static let snapshot = "id: 1-5\nevent: snapshot\ndata: {\"n\": \"s\"}\n\n"

  @Test("The targets are read after the snapshot and before the events that follow")
  func snapshot() throws {
    let event = "id: 1-6\nevent: target\ndata: {\"n\": \"t\"}\n\n"
    let connection = ScriptedConnection([.stream([Self.snapshot + event])], Self.documents)
    #expect(
      try messages(connection) == [
        "clock 1000000", "overview o", "gates g", "past p", "snapshot s", "target t", "live",
        "disconnected: the service closed the stream", "end: Exhausted()",
      ])
    #expect(connection.requests == ["/events", "/targets/overview", "/gates", Self.past, "/events after 1-6"])
  }

  @Test("Targets that cannot be read are read again with the next heartbeat")
  func repeated() throws {
    let connection = ScriptedConnection(
      [.stream([Self.snapshot, ": heartbeat\n\n"])],
      [
        "/targets/overview": [
          ScriptedConnection.problem("busy", 503), ScriptedConnection.json("no JSON"),
          ScriptedConnection.json(#"{"n": "o"}"#),
        ]
      ])
    let found = try messages(connection)
    #expect(found == ["clock 1000000", "snapshot s", "disconnected: 200 no JSON", "end: Exhausted()"])
    #expect(connection.requests.last == "/events", "the next stream begins with a snapshot")
  }

  @Test("A service that never responded ends the feed, with a hint")
  func neverResponded() throws {
    #expect(try messages(ScriptedConnection([.failure("refused", hint: "start it")])) == ["end: refused; start it"])
    let denied = ScriptedConnection([.response(ScriptedConnection.problem("no token", 401))])
    #expect(try messages(denied) == ["end: 401 no token"])
  }

  @Test("The document of a target has an encoded path")
  func document() throws {
    let mailbox = try Mailbox<ServiceFeed.Message>()
    let connection = ScriptedConnection(
      [],
      [
        "/targets/a": [ScriptedConnection.json(#"{"n": "1"}"#)],
        "/fleet/targets/a%2Fb": [ScriptedConnection.problem("unknown", 404)],
      ])
    let feed = ServiceFeed(connection, mailbox)
    for (id, isOfFleet) in [("a", false), ("a/b", true), ("c", false)] { feed.load(id: id, isOfFleet: isOfFleet) }
    let texts = Locked<[String]>([])
    let areAll = eventually {
      let new = mailbox.take().messages.map(Self.text)
      texts.withLock { $0 += new }
      return texts.withLock(\.count) == 3
    }
    #expect(areAll)
    let found = texts.withLock(\.self)
    #expect(
      found == ["document a 1", "no document a/b: unknown", "no document c: no document at /targets/c"])
  }
}
