import History
import JSONFormat
import ReachabilityModel
import EventStreams
import Testing

@testable import Events

@Suite struct EventTests {
  private static let head = #""id":"0a1b2c3d-7","type":"#
  private static let time = #","time":"2026-11-23T01:02:03.000004Z""#

  private func decode(_ members: String) -> Event? { Event(data: Array("{\(Self.head)\(members)}".utf8)) }

  /// One event of each type, as clients receive it.
  static let events: [String] = [
    #""status"\#(time),"from":{"status":"reachable","connectionType":"ethernetOrWiFi"},"to":{"status":"notReachable","connectionType":null},"cause":["linkDown"],"initial":false,"status":{"status":"notReachable","flags":[]}"#,
    #""path"\#(time),"cause":[],"from":{"ipv4":null,"ipv6":null},"to":{"ipv4":{"status":"reachable"},"ipv6":null},"status":{"id":"0a1b2c3d-7"}"#,
    #""interface"\#(time),"cause":["linkUp","linkUp"],"interface":{"name":"eth0","index":2},"removed":true,"renamedTo":"lan0""#,
    #""target"\#(time),"cause":["check"],"from":"up","to":"down","reason":"connectionRefused","durationSeconds":0.25,"target":{"id":"db","target":"tcp://db:1","module":"tcp","labels":{"env":"prod"},"state":"down","since":"2026-11-23T01:02:03.000004Z","flapping":true},"removed":false,"origin":"fleet""#,
  ]

  @Test("Each type is encoded as it was decoded", arguments: events)
  func roundTrip(_ members: String) throws {
    let event = try #require(decode(members))
    #expect(String(decoding: event.data.bytes, as: UTF8.self) == "{\(Self.head)\(members)}")
    #expect(event.id.description == "0a1b2c3d-7" && event.time.description == "2026-11-23T01:02:03.000004Z")
  }

  @Test("An event has a subject, a state, and the target that it concerns")
  func content() throws {
    let events = try Self.events.map { try #require(decode($0)) }
    #expect(events.map(\.type) == [.status, .path, .interface, .target])
    #expect(events.map(\.subject) == ["machine", "machine", "interface:eth0", "target:db"])
    #expect(events.map(\.state) == ["notReachable", nil, nil, "down"])
    #expect(events.map(\.target) == [nil, nil, nil, "db"])
    #expect(events.map { $0.targetChange == nil } == [true, true, true, false])
    let change = try #require(events[3].targetChange)
    #expect(events[3].labels == ["env": "prod"] && change.isFlapping && change.since == events[3].time)
    #expect(change.from == .up && change.to == .down && !change.isRemoved)
    #expect(change.origin == .fleet && change.reason?.rawValue == "connectionRefused")
  }

  @Test("The frame of an event is that of the event stream, and the log has its data")
  func frame() throws {
    for (event, name) in zip(
      try Self.events.map { try #require(decode($0)) }, ["status", "path", "interface", "target"])
    {
      let entry = EventLog.Entry(event)
      let data = String(decoding: event.data.bytes, as: UTF8.self)
      #expect(String(decoding: entry.bytes, as: UTF8.self) == "id: 0a1b2c3d-7\nevent: \(name)\ndata: \(data)\n\n")
      let log = EventLog()
      log.append(contentsOf: [entry])
      #expect(log.entries(newest: 1) == [entry])
      #expect(Array(entry.bytes[entry.data]) == event.data.bytes)
      #expect((entry.labels.topic != 0) == (name == "target") && entry.kind == event.type.rawValue)
    }
  }

  @Test(
    "What is not an event is refused",
    arguments: [
      "", "null", "[]", "{}", "x", #"{"type":"target"}"#, #"{\#(head)"service"\#(time)}"#,
      #"{\#(head)"other"\#(time)}"#,
      #"{\#(head)"path","time":"now"}"#, #"{\#(head)1\#(time)}"#, #"{"id":"1","type":"path"\#(time)}"#,
    ])
  func invalid(_ text: String) {
    #expect(Event(data: Array(text.utf8)) == nil)
  }

  @Test("A change of a target without its states is none")
  func invalidChange() throws {
    for members in [
      #""from":"up","to":"sideways","target":{"id":"a"}"#, #""from":"up","to":"down""#, #""to":"up","target":{}"#,
    ] {
      #expect(try #require(decode(#""target"\#(Self.time),\#(members)"#)).targetChange == nil)
    }
  }

  @Test("An event of a version that did not have the origin of targets is read")
  func earlierVersion() throws {
    let event = try #require(decode(#""target"\#(Self.time),"from":"up","to":"down","target":{"id":"db"}"#))
    let change = try #require(event.targetChange)
    #expect(event.target == "db" && event.labels.isEmpty)
    #expect(change.origin == nil && change.since == nil && !change.isFlapping)
  }
}
