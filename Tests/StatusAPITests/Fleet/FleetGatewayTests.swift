import EmbeddedHTTPServer
import JSONFormat
import Locks
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

@testable import FleetAPI

/// The gateway of two replicas on an engine in memory.
@Suite("Gateway of a fleet")
struct FleetGatewayTests {
  let fleet: FleetFixture
  private let inbox = "_INBOX.agent.a.x"

  init() throws { fleet = try FleetFixture() }

  var engine: MemoryEngine { fleet.engine }

  private func send(_ payload: [UInt8], agent: String = "a", reply: String?) {
    engine.deliver(
      FleetEngineUnstoredMessage(subject: "\(FleetSubject.request(agent))", reply: reply, payload: payload))
  }

  /// Sends a request, and waits for its answer.
  private func ask(_ payload: [UInt8], agent: String = "a") throws -> GatewayAnswer {
    let reply = "_INBOX.agent.\(FleetSubject.token(agent)).\(UInt64.random(in: 0 ... .max))"
    send(payload, agent: agent, reply: reply)
    #expect(eventually { !engine.answers(on: reply).isEmpty })
    let answer = try #require(engine.answers(on: reply).first)
    return try #require(GatewayWire.answer(answer))
  }

  func ask(_ request: GatewayRequest, agent: String = "a") throws -> GatewayAnswer {
    try ask(GatewayWire.encode(request), agent: agent)
  }

  private static func message(_ number: UInt64 = 1, after: UInt64 = 0, agent: String = "a", epoch: String = "e")
    -> AgentMessage
  {
    let change = FleetCellChange(
      number: number, target: "db", old: .unknown, cell: FleetCellState(.up, since: Timestamp(microseconds: 1)),
      time: Timestamp(microseconds: 1))
    return AgentMessage(
      agent: agent, epoch: epoch, after: after,
      .changes(AgentChangeBatch(prev: number - 1, from: number, to: number, changes: [change])))
  }

  static func hello(_ instance: UInt64, zone: String = "z", known: UInt64 = 0) -> GatewayRequest {
    .hello(
      GatewayHello(
        instance: instance, known: known, restates: false,
        attributes: NodeHello(role: .replica, zone: zone, version: "1")))
  }

  @Test("A chain is stored in its order, and a repeated message is not stored twice")
  func chain() throws {
    #expect(try ask(.last) == .last(nil))
    guard case .stored(let first) = try ask(.publish(Self.message())) else { return #expect(Bool(false)) }
    #expect(try ask(.publish(Self.message())) == .refused)
    #expect(try ask(.publish(Self.message(2, after: first + 1))) == .refused)
    guard case .stored(let second) = try ask(.publish(Self.message(2, after: first))) else {
      return #expect(Bool(false))
    }
    #expect(try ask(.last) == .last(FleetAgentChain.OwnMessage(sequence: second, epoch: "e", to: 2)))
    #expect(engine.messages("rx2.ev.").count == 2)
    // An unreadable message has no epoch.
    engine.publish(
      [0x7b], on: .events("b"), expecting: nil
    ) { _ in }
    guard case .last(let unreadable?) = try ask(.last, agent: "b") else { return #expect(Bool(false)) }
    #expect(unreadable.epoch == nil)
  }

  @Test("What is stored was decoded: members that are not understood are not stored")
  func decoded() throws {
    let text = String(decoding: GatewayWire.encode(.publish(Self.message())), as: UTF8.self)
    let more = text.replacing("\"epoch\":\"e\"", with: "\"epoch\":\"e\",\"evil\":\"x\"").replacing(
      "\"number\":1", with: "\"more\":{\"a\":[1]},\"number\":1")
    #expect(more != text)
    guard case .stored = try ask(Array(more.utf8)) else { return #expect(Bool(false)) }
    let stored = try #require(engine.messages("rx2.ev.a").first)
    #expect(stored.payload == FleetWire.encode(.agent(Self.message())))
  }

  @Test(
    "Only replies in the agent's own inbox are answered",
    arguments: [
      nil, "", "rx2.verdict.db", "_INBOX.agent.b.x", "_INBOX.agent.a.*", "_INBOX.agent.a.>", "_INBOX.replica.r0.x",
      "_ANSWER.x", "$JS.API.STREAM.INFO.RX2", "_INBOX.agent.a.x.y.z",
    ])
  func replies(_ reply: String?) throws {
    let before = engine.answered
    send(GatewayWire.encode(.publish(Self.message())), reply: reply)
    // The next one of the same agent comes after it.
    guard case .stored = try ask(.publish(Self.message())) else { return #expect(Bool(false)) }
    let new = engine.answered.subtracting(before)
    #expect(new.count == 1 && new.allSatisfy { $0.hasPrefix("_INBOX.agent.a.") }, "\(new)")
    #expect(engine.messages("rx2.ev.a").count == 1)
  }

  private static let invalid: [(String, String)] = [
    ("no JSON", "junk"), ("empty", ""), ("another version", #"{"v":2,"request":"last"}"#),
    ("no version", #"{"request":"last"}"#), ("an unknown request", #"{"v":1,"request":"drop"}"#),
    ("another agent", String(decoding: GatewayWire.encode(.publish(message(agent: "b"))), as: UTF8.self)),
    ("a long epoch", publish(#""epoch":"e""#, #""epoch":"\#(String(repeating: "e", count: 65))""#)),
    ("an empty epoch", publish(#""epoch":"e""#, #""epoch":"""#)),
    ("a control character", publish(#""epoch":"e""#, #""epoch":"\u0007""#)),
    ("from after to", publish(#""to":1"#, #""to":0"#)), ("a number beyond to", publish(#""number":1"#, #""number":2"#)),
    ("a negative number", publish(#""number":1"#, #""number":-1"#)),
    ("an unknown state", publish(#""state":"up""#, #""state":"fine""#)),
    ("an id with a space", publish(#""target":"db""#, #""target":"d b""#)),
    ("a huge sequence", publish(#""after":0"#, #""after":9223372036854775807"#)),
    (
      "too many parts",
      #"{"v":1,"request":"publish","message":{"agent":"a","epoch":"e","after":0,"prev":0,"number":1,"part":1,"of":65,"cells":[]}}"#
    ),
    (
      "part 0",
      #"{"v":1,"request":"publish","message":{"agent":"a","epoch":"e","after":0,"prev":0,"number":1,"part":0,"of":1,"cells":[]}}"#
    ),
    ("a hello without an instance", #"{"v":1,"request":"hello","known":0,"hello":{"role":"agent","version":"1"}}"#),
    (
      "an address that no agent has",
      #"{"v":1,"request":"hello","instance":1,"known":0,"hello":{"role":"agent","version":"1","address":"https://x/"}}"#
    ),
    (
      "a label with a long value",
      #"{"v":1,"request":"hello","instance":1,"known":0,"hello":{"role":"agent","version":"1","labels":{"a":"\#(String(repeating: "v", count: 64))"}}}"#
    ),
    (
      "a label with a control character",
      #"{"v":1,"request":"hello","instance":1,"known":0,"hello":{"role":"agent","version":"1","labels":{"a":"\u001b"}}}"#
    ),
    ("a nested bomb", String(repeating: "[", count: 100_000)),
  ]

  private static func publish(_ text: String, _ other: String) -> String {
    String(decoding: GatewayWire.encode(.publish(message())), as: UTF8.self).replacing(text, with: other)
  }

  @Test("What the message alone shows is rejected, and nothing is stored", arguments: invalid)
  func rejections(_ name: String, _ text: String) throws {
    let before = engine.messages("rx2.").count { $0.subject.hasSuffix(".a") }
    guard case .rejected = try ask(Array(text.utf8)) else { return #expect(Bool(false), "\(name)") }
    #expect(engine.messages("rx2.").count { $0.subject.hasSuffix(".a") } == before)
  }

  @Test("A request or message that is too long is rejected")
  func size() throws {
    guard case .rejected = try ask([UInt8](repeating: 0x20, count: GatewayLimits.requestBytes + 1)) else {
      return #expect(Bool(false))
    }
    let target = String(repeating: "t", count: 60)
    let changes = (1...255).map { number in
      FleetCellChange(
        number: UInt64(number), target: "\(target)\(number)",
        old: .unreachable,
        cell: FleetCellState(
          .unreachable, Reason(rawValue: String(repeating: "r", count: 64)), since: Timestamp(microseconds: .max / 2),
          isFlapping: true), time: Timestamp(microseconds: .max / 2), skipped: 1_000_000)
    }
    // The longest message of an agent that is not hostile.
    let longest = AgentMessage(
      agent: "a", epoch: "e", after: 0, .changes(AgentChangeBatch(prev: 0, from: 1, to: 255, changes: changes)))
    guard case .stored = try ask(.publish(longest)) else { return #expect(Bool(false)) }
  }

  @Test("The replica adds the role, and one process is the agent")
  func membership() throws {
    guard case .stored(let sequence) = try ask(Self.hello(1)) else { return #expect(Bool(false)) }
    try fleet.waitUntil { $0.fold.nodes["a"]?.isAgent == true }
    #expect(try ask(Self.hello(1)) == .stored(sequence), "the same process")
    // The running process answers for the id.
    engine.answer("a") { _ in FleetWire.encode(AgentReply.instance(1)) }
    #expect(try ask(Self.hello(2)) == .duplicate)
    #expect(try ask(.bye(instance: 2)) == .stored(0))
    try fleet.waitUntil { $0.fold.nodes["a"]?.state == .present }
    engine.answer("a") { _ in nil }
    guard case .stored(let next) = try ask(Self.hello(2)) else { return #expect(Bool(false)) }
    #expect(next > sequence)
    guard case .stored = try ask(.bye(instance: 2)) else { return #expect(Bool(false)) }
    try fleet.waitUntil { $0.fold.nodes["a"]?.state == .left }
  }

  @Test("The id of a replica is no agent's")
  func replicaID() throws {
    #expect(try ask(Self.hello(1), agent: "r1") == .rejected("the id is that of a replica"))
    #expect(try ask(.publish(Self.message(agent: "r0")), agent: "r0") == .rejected("the id is that of a replica"))
    for service in fleet.services { #expect(service.snapshot.fold.nodes["r1"]?.hello?.role == .replica) }
  }

  @Test("Changed attributes are stored at most once in ten seconds")
  func changedAttributes() throws {
    guard case .stored(let first) = try ask(Self.hello(1)) else { return #expect(Bool(false)) }
    guard case .stored = try ask(Self.hello(2, zone: "y")) else { return #expect(Bool(false)) }
    guard case .slowDown(let wait) = try ask(Self.hello(3, zone: "z")) else { return #expect(Bool(false)) }
    #expect(wait > .seconds(5) && wait <= .seconds(10) && first > 0)
  }

  @Test("An agent receives the list of what it checks in pages, and what became of what is not in it")
  func roster() throws {
    for agent in ["a", "b"] { fleet.hello(agent, address: "tcp://192.0.2.1:80") }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432","interval":"7s"}"#).status == 201)
    #expect(try fleet.put("one", #"{"target":"tcp://192.0.2.9:1","place":{"select":{"x":"y"}}}"#).status == 201)
    #expect(try fleet.put("gone", #"{"target":"tcp://192.0.2.9:1"}"#).status == 201)
    #expect(try fleet.ask("/fleet/targets/gone", fleet.admin, method: "DELETE").status == 204)
    try fleet.waitUntil { $0.fold.deleted["gone"] != nil && $0.fold.targets["db"]?.assigned == ["a", "b"] }
    guard case .confirmed(let found) = try ask(.confirm(roster: nil)), let roster = found.roster else {
      return #expect(Bool(false))
    }
    #expect(found.stream.created == roster.position.created && found.hello ?? 0 > 0)
    guard case .roster(let page) = try ask(.roster(after: nil)) else { return #expect(Bool(false)) }
    #expect(page.roster.hash == roster.hash && page.next == nil)
    #expect(page.checks.map(\.id) == ["db", "mesh.b"] && page.checks.first?.interval == .seconds(7))
    guard case .roster(let rest) = try ask(.roster(after: "db")) else { return #expect(Bool(false)) }
    #expect(rest.checks.map(\.id) == ["mesh.b"])
    #expect(try ask(.missing(["db", "one", "gone", "unknown", "mesh.x"])) == .missing(ended: ["one", "gone"]))
    // Another definition is another list.
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5433"}"#).status == 200)
    guard case .confirmed(let changed) = try ask(.confirm(roster: roster.hash)) else { return #expect(Bool(false)) }
    #expect(changed.roster?.hash != roster.hash)
  }

  @Test("A list of the most targets has several pages")
  func pages() throws {
    let checks = (0..<10_000).map { number -> TargetSpec in
      var spec = TargetSpec()
      spec.id = "t\(number + 10_000)"
      spec.target = "tcp://192.0.2.9:5432"
      return spec
    }
    let roster = GatewayConfirmation.Roster(position: FleetEngineStreamPosition(sequence: 1, created: 1), hash: "h")
    var found: [TargetSpec] = []
    var pages = 0
    var after: String?
    repeat {
      let answer = GatewayPages.answer((roster, checks), after: after)
      let payload = GatewayWire.encode(answer)
      #expect(payload.count <= GatewayLimits.pageBytes + 1024)
      guard case .roster(let page)? = GatewayWire.answer(payload) else { return #expect(Bool(false)) }
      found += page.checks
      after = page.next
      pages += 1
    } while after != nil && pages < 100
    #expect(found == checks && pages > 1)
  }

  @Test("One agent's excess is answered, then dropped, and does not affect another agent")
  func excess() throws {
    let payload = GatewayWire.encode(.last)
    for _ in 0..<5000 { send(payload, reply: inbox) }
    #expect(eventually { engine.answers(on: inbox).contains { GatewayWire.answer($0)?.isSlowDown == true } })
    guard case .stored = try ask(.publish(Self.message(agent: "b")), agent: "b") else { return #expect(Bool(false)) }
    let answers = engine.answers(on: inbox)
    #expect(answers.count < 1500, "\(answers.count)")
    let counts = fleet.services.map(\.gateway.counts)
    #expect(counts.reduce(0) { $0 + $1.dropped } > 3000)
  }

  @Test("Every request and answer is read as it was written")
  func roundTrip() throws {
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://192.0.2.9:5432"
    let position = FleetEngineStreamPosition(sequence: 7, created: 9)
    let roster = GatewayConfirmation.Roster(position: position, hash: "f00")
    let state = FleetEngineStreamState(created: 9, first: 3, last: 7)
    let answers: [GatewayAnswer] = [
      .stored(7), .refused, .slowDown(.milliseconds(1500)), .rejected("why"), .failed("why"), .duplicate, .last(nil),
      .last(.init(sequence: 7, epoch: "e", to: 3)), .last(.init(sequence: 7, epoch: nil, to: 0)),
      .confirmed(.init(stream: state, hello: 5, roster: roster)),
      .confirmed(.init(stream: state, hello: nil, roster: nil)),
      .roster(.init(roster: roster, checks: [spec], next: "db")), .missing(ended: ["a"]),
    ]
    for answer in answers { #expect(GatewayWire.answer(GatewayWire.encode(answer)) == answer) }
    let hello = NodeHello(role: .agent, zone: "z", labels: ["a": "b"], address: "icmp://192.0.2.1", version: "1")
    let requests: [GatewayRequest] = [
      .publish(Self.message()), .last, .confirm(roster: nil), .confirm(roster: "f"), .roster(after: nil),
      .roster(after: "db"), .missing(["db"]), .bye(instance: .max),
      .hello(GatewayHello(instance: .max, known: 7, restates: true, attributes: hello)),
    ]
    for request in requests { #expect(try GatewayWire.request(GatewayWire.encode(request), of: "a") == request) }
  }
}

extension GatewayAnswer {
  fileprivate var isSlowDown: Bool { if case .slowDown = self { true } else { false } }
}
