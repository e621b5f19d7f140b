import JSONFormat
import ReachabilityModel
import Testing

@testable import TerminalUI

@Suite("Documents of a fleet in a terminal")
struct FleetDocumentTests {
  private static func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

  private static func target(_ id: String, _ verdict: String, _ more: String = "") -> String {
    """
    {"id":"\(id)","target":"tcp://192.0.2.9:5432","labels":{"env":"prod"},"verdict":"\(verdict)",\
    "since":"2026-01-01T00:00:00.000000Z"\(more)}
    """
  }
  private static let votes = #","votes":{"assigned":5,"up":3,"down":2},"downFrom":["node3","node7"]"#

  @Test(
    "A target has a line with its verdict, and why it is not up",
    arguments: [
      (target("db", "up", #","reason":null"#), "up db tcp://192.0.2.9:5432 since 2026-01-01T00:00:00.000000Z"),
      (
        target("db", "partial", votes),
        "partial db tcp://192.0.2.9:5432 2 of 5 agents: node3,node7 since 2026-01-01T00:00:00.000000Z"
      ),
      (
        target("db", "unknown", #","reason":"tooFewVotes""#),
        "unknown db tcp://192.0.2.9:5432 tooFewVotes since 2026-01-01T00:00:00.000000Z"
      ),
      (target("db", "bad"), nil), (#"{"id":"db"}"#, nil), ("[]", nil),
    ])
  func lines(_ document: String, _ line: String?) throws {
    #expect(FleetFormatter.line(try Self.json(document))?.line == line)
  }

  @Test("The fleet has a line with its numbers, and with the age of an old state")
  func overview() throws {
    func line(_ engine: String) throws -> String? {
      FleetFormatter.line(
        ofFleet: try Self.json(
          #"{"agents":{"present":3,"lost":1},"verdicts":{"up":4,"down":0,"partial":1},"engine":\#(engine)}"#))
    }
    #expect(
      try line(#"{"connected":true,"age":1}"#)
        == "fleet: agents 3 present, 1 lost; targets 4 up, 1 partial; engine connected")
    #expect(
      try line(#"{"connected":false,"age":40}"#)?.hasSuffix("; engine not connected; the state is 40 s old") == true)
    #expect(FleetFormatter.line(ofFleet: try Self.json("{}")) == nil)
  }

  @Test("Targets of a fleet are listed by their verdicts, partial after down, and follow its events")
  func state() throws {
    var state = TopServiceState()
    let documents = try [
      Self.target("a", "up"), Self.target("b", "partial", Self.votes), Self.target("c", "down", Self.votes),
    ].map(Self.json)
    state.replaceFleet(documents.compactMap(TopTargetEntry.init(fleet:)))
    #expect(state.targets.map { "\($0.id) \($0.word)" } == ["c down", "b partial", "a up"])
    #expect(state.counts[.down] == 1 && state.partialCount == 1 && state.counts[.up] == 1)
    #expect(state["b"]?.reason == "2 of 5 agents: node3,node7")
    state.apply(
      type: "verdict",
      try Self.json(
        #"{"time":"2026-01-02T00:00:00.000000Z","target":"b","old":"partial","verdict":"up","reason":null}"#))
    #expect(state["b"]?.word == "up" && state.partialCount == 0 && state.counts[.up] == 2 && state["b"]?.reason == nil)
    #expect(state.events.first.map { "\($0.subject) \($0.from ?? "") \($0.to)" } == "b partial up")
    let definition =
      #"{"time":"2026-01-02T00:00:00.000000Z","target":"d","version":1,"definition":{"target":"icmp://x"}}"#
    state.apply(type: "definition", try Self.json(definition))
    #expect(state["d"]?.target == "icmp://x" && state["d"]?.word == "unknown")
    state.apply(
      type: "definition",
      try Self.json(#"{"time":"2026-01-02T00:00:00.000000Z","target":"d","version":2,"definition":null}"#))
    #expect(state["d"] == nil && state.targetCount == 3)
    // Its own targets do not replace those of the fleet, and an event about an unknown one changes nothing.
    let own =
      #"{"time":"2026-01-02T00:00:00.000000Z","target":{"id":"a","target":"x","state":"down","since":"2026-01-02T00:00:00.000000Z"},"to":"down"}"#
    state.apply(type: "target", try Self.json(own))
    state.apply(type: "verdict", try Self.json(#"{"time":"2026-01-02T00:00:00.000000Z","target":"x","verdict":"up"}"#))
    #expect(state["a"]?.word == "up" && state.targetCount == 3)
    state.apply(type: "agent", try Self.json(#"{"time":"2026-01-02T00:00:00.000000Z","agent":"node3","state":"lost"}"#))
    #expect(state.events.first?.subject == "node3")
    #expect(PlainTopScreen.lines(state).contains("targets: 1 down, 2 up"))
  }
}
