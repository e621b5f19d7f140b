import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import StatusAPI

@Suite("FleetWire")
struct FleetWireTests {
  private static let time = Timestamp(microseconds: 1_767_225_600_000_000)

  private static var target: FleetTarget {
    var spec = TargetSpec()
    spec.id = "a.b"
    spec.target = "tcp://db:5432"
    spec.module = "tcp"
    spec.labels = ["env": "prod"]
    (spec.interval, spec.timeout, spec.fastInterval) = (.seconds(30), .milliseconds(1500), .seconds(1))
    (spec.fall, spec.rise, spec.isPaused) = (3, 2, true)
    spec.dependsOn = [TargetDependency("core"), TargetDependency(anyOf: ["isp-a", "isp-b"])]
    return FleetTarget(
      spec: spec, placement: FleetPlacement(select: ["zone": "b"], count: 3, spreadsZones: true),
      quorum: FleetQuorumRule(down: .percent(50), minimum: .count(2), zones: 2))
  }

  private static var messages: [FleetMessage] {
    let down = FleetCellState(.down, .dnsTimeout, since: time, isFlapping: true)
    let hello = NodeHello(
      role: .agent, zone: "b", labels: ["env": "prod"], address: "tcp://192.0.2.7:8080", version: "1")
    var votes = FleetVoteCounts()
    (votes.assigned, votes.up, votes.down) = (3, 2, 1)
    return [
      .agent(
        AgentMessage(
          agent: "a.b", epoch: "0a", after: 7,
          .changes(
            AgentChangeBatch(
              prev: 3, from: 5, to: 9, again: true,
              changes: [
                FleetCellChange(number: 5, target: "db", old: .up, cell: down, time: time, skipped: 4),
                FleetCellChange(number: 6, target: "web", old: .down, cell: nil, time: time),
              ])))),
      .agent(
        AgentMessage(
          agent: "a", epoch: "0a", after: 0,
          .base(FleetBasePart(prev: 3, number: 9, part: 1, of: 2, cells: [FleetBaseCell("db", down)])))),
      .node(NodeMessage(id: "a", .hello(hello, restates: true))), .node(NodeMessage(id: "a", .bye)),
      .node(NodeMessage(id: "a", .lost(hello: 8, attributes: hello, by: "r"))),
      .verdict(
        VerdictMessage(
          target: "db", stream: 9, from: .up, to: .partial, reason: .tooFewVotes, votes: votes, downFrom: ["a"],
          basis: 5,
          attempt: 1, prev: 4, held: true, by: "r", since: time)),
      .verdict(
        VerdictMessage(
          target: "db", stream: 9, from: nil, to: .up, votes: votes, basis: 5, attempt: 0, prev: 0, by: "r")),
      .verdict(
        VerdictMessage(
          target: "db", stream: 9, from: .up, to: .unreachable, reason: .dependencyDown, votes: votes, basis: 5,
          attempt: 0, prev: 0, by: "r", dependency: "core")),
      .definition(DefinitionMessage(id: "a.b", version: 3, definition: target, restates: true)),
      .definition(DefinitionMessage(id: "db", version: 4, definition: nil)),
    ]
  }

  @Test("Every message of the stream is read as it was written", arguments: messages)
  func roundTrip(_ message: FleetMessage) {
    #expect(FleetWire.decode(FleetWire.encode(message), subject: message.subject.description) == message)
  }

  @Test("A message on another agent's or target's subject is not understood", arguments: messages)
  func otherSubject(_ message: FleetMessage) {
    for subject in ["rx2.ev.x", "rx2.roster.node.x", "rx2.verdict.x", "rx2.roster.target.x", "rx2.hb.a", "x"] {
      #expect(FleetWire.decode(FleetWire.encode(message), subject: subject) == nil)
    }
  }

  @Test("Messages that are not stored are read as they were written")
  func unstored() {
    let heartbeat = HeartbeatMessage(agent: "a", instance: .max, outbox: 3, hello: 7)
    #expect(FleetWire.heartbeat(FleetWire.encode(heartbeat)) == heartbeat)
    let suspecting = HeartbeatMessage(agent: "a", instance: 1, outbox: 0, hello: 7, suspects: ["db", "web"])
    #expect(FleetWire.heartbeat(FleetWire.encode(suspecting)) == suspecting)
    for request: AgentRequest in [
      .ping, .base(after: FleetEngineStreamPosition(sequence: 7, created: 9)), .check(targets: ["db"]),
    ] {
      #expect(FleetWire.request(FleetWire.encode(request)) == request)
    }
    let cell = FleetCellState(.up, since: Self.time)
    let results = [FleetCheckResult("db", cell, last: .down), FleetCheckResult("web", cell)]
    for reply: AgentReply in [.instance(.max), .accepted, .published(7), .results(results)] {
      #expect(FleetWire.reply(FleetWire.encode(reply)) == reply)
    }
  }

  @Test("A heartbeat is one whatever its suspects are, and names a limited number of them")
  func suspects() {
    let heartbeat = HeartbeatMessage(agent: "a", instance: 1, outbox: 0, hello: 7)
    #expect(!String(decoding: FleetWire.encode(heartbeat), as: UTF8.self).contains("suspects"))
    for suspects in ["7", "[7]", "null", "{}", "[\"A\\nB\"]"] {
      let text = #"{"agent":"a","instance":1,"outbox":0,"hello":7,"suspects":\#(suspects)}"#
      #expect(FleetWire.heartbeat(Array(text.utf8)) == heartbeat)
    }
    let many = HeartbeatMessage(
      agent: "a", instance: 1, outbox: 0, hello: 7, suspects: (0..<1000).map { "t\($0)" })
    #expect(FleetWire.heartbeat(FleetWire.encode(many))?.suspects.count == FleetLimits.suspectsPerHeartbeat)
  }

  @Test("A message with a changed byte is read, or not understood, and never traps")
  func damaged() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      guard let message = Self.messages.randomElement(using: &random) else { continue }
      var bytes = FleetWire.encode(message)
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      if let read = FleetWire.decode(bytes, subject: message.subject.description) {
        #expect(read.subject == message.subject)
      }
    }
  }

  @Test("Names from an agent are ids, and reasons are words, because replicas write them into lines")
  func names() {
    func message(_ target: String, _ reason: String) -> FleetMessage {
      let cell = FleetBaseCell(
        target, FleetCellState(.down, Reason(rawValue: reason), since: Timestamp(microseconds: 0)))
      let part = FleetBasePart(prev: 0, number: 1, part: 1, of: 1, cells: [cell])
      return .agent(AgentMessage(agent: "a", epoch: "e", after: 0, .base(part)))
    }
    func isUnderstood(_ message: FleetMessage) -> Bool {
      FleetWire.decode(FleetWire.encode(message), subject: "\(message.subject)") == message
    }
    #expect(isUnderstood(message("db", "connectTimeout")))
    for target in ["a,b", "a\nid: 1", ""] { #expect(!isUnderstood(message(target, "connectTimeout"))) }
    for reason in ["a,b", "a b", "ä"] { #expect(!isUnderstood(message("db", reason))) }
    let hello = NodeHello(role: .agent, zone: "a:b", version: "1")
    #expect(!isUnderstood(.node(NodeMessage(id: "a", .hello(hello, restates: false)))))
  }
}
