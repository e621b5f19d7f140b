import JSONFormat
import ReachabilityModel
import Testing

@testable import Webhooks

@Suite("Webhook messages")
struct WebhookMessageTests {
  static let time = Timestamp("2026-11-23T01:02:03.000004Z") ?? Timestamp(microseconds: 0)

  static func event(_ sequence: UInt64, type: String = "target", data: String = #"{"id":"x"}"#) -> WebhookEvent {
    WebhookEvent(sequence: sequence, time: time, type: type, subject: "target:db", data: Array(data.utf8))
  }

  @Test("An event is a CloudEvent 1.0 in structured mode")
  func event() throws {
    let message = WebhookMessage(Self.event(42), epoch: "0a1b2c3d", source: "urn:reachd:host")
    #expect(message.id == "0a1b2c3d-42")
    let body = try JSON.parse(Array(message.body.utf8))
    #expect(
      body
        == .members([
          "specversion": "1.0", "id": "0a1b2c3d-42", "source": "urn:reachd:host", "type": "reachd.target",
          "subject": "target:db", "time": "2026-11-23T01:02:03.000004Z", "sequence": "00000000000000000042",
          "datacontenttype": "application/json", "data": .members(["id": "x"]),
        ]))
  }

  @Test("Sequences sort as their numbers do")
  func order() throws {
    let sequences = try [9, 10, 99, 100, UInt64.max].map { number in
      try JSON.parse(Array(WebhookMessage(Self.event(number), epoch: "e", source: "s").body.utf8))["sequence"]?.string
        ?? ""
    }
    #expect(sequences == sequences.sorted())
    #expect(Set(sequences.map(\.utf8.count)) == [20])
  }

  @Test("A gap says why, after which event, and how many")
  func gap() throws {
    let gap = WebhookGap(reason: .expired, after: "e-3", last: 9, count: 6, time: Self.time)
    let message = WebhookMessage(gap, epoch: "e", source: "urn:reachd:host")
    #expect(message.id == "e-9-gap")
    let body = try JSON.parse(Array(message.body.utf8))
    #expect(body["type"] == "reachd.gap")
    #expect(body["data"] == .members(["reason": "expired", "after": "e-3", "last": "e-9", "count": 6]))
  }

  @Test(
    "Characters that a URN cannot contain are encoded",
    arguments: [
      ("db-1.example", "urn:reachd:db-1.example"), ("a b/ü", "urn:reachd:a%20b%2F%C3%BC"), ("", "urn:reachd:localhost"),
    ])
  func source(machine: String, source: String) {
    #expect(WebhookMessage.source(machine: machine) == source)
  }
}

@Suite("Webhook filters")
struct WebhookFilterTests {
  static let events = [
    WebhookEvent(
      sequence: 1, time: WebhookMessageTests.time, type: "target", subject: "target:db", state: "down", target: "db",
      labels: ["env": "prod"], data: []),
    WebhookEvent(
      sequence: 2, time: WebhookMessageTests.time, type: "status", subject: "machine", state: "notReachable", data: []),
    WebhookEvent(sequence: 3, time: WebhookMessageTests.time, type: "path", subject: "machine", data: []),
  ]

  @Test("Every given condition must hold")
  func conditions() {
    func accepted(_ filter: WebhookFilter) -> [UInt64] { Self.events.filter(filter.accepts).map(\.sequence) }
    #expect(accepted(WebhookFilter()) == [1, 2, 3])
    #expect(accepted(WebhookFilter(types: ["status", "path"])) == [2, 3])
    #expect(accepted(WebhookFilter(states: ["down", "notReachable"])) == [1, 2])
    #expect(accepted(WebhookFilter(states: ["up"])) == [])
    #expect(accepted(WebhookFilter(targets: ["db"])) == [1])
    #expect(accepted(WebhookFilter(targets: ["web"])) == [])
    #expect(accepted(WebhookFilter(labels: ["env": "prod"])) == [1])
    #expect(accepted(WebhookFilter(labels: ["env": "prod", "tier": "1"])) == [])
    #expect(accepted(WebhookFilter(types: ["status"], targets: ["db"])) == [])
  }
}
