import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("FleetFold")
struct FleetFoldTests {
  var fold = FleetFold(created: 1)
  var sequence: UInt64 = 0
  var highWaters: [String: UInt64] = [:]

  @discardableResult
  mutating func apply(_ message: FleetMessage) -> [FleetEvent] {
    sequence += 1
    return fold.apply(message, sequence: sequence, time: Int64(sequence) * 1_000_000_000)
  }

  @discardableResult
  mutating func hello(_ id: String, role: NodeHello.Role = .agent, zone: String = "") -> [FleetEvent] {
    apply(.node(NodeMessage(id: id, .hello(NodeHello(role: role, zone: zone, version: "1"), restates: false))))
  }

  @discardableResult
  mutating func define(
    _ id: String, version: UInt64 = 1, _ placement: FleetPlacement = FleetPlacement(), deleted: Bool = false
  ) -> [FleetEvent] {
    var spec = TargetSpec()
    spec.id = id
    spec.target = "tcp://db:5432"
    let target = deleted ? nil : FleetTarget(spec: spec, placement: placement)
    return apply(.definition(DefinitionMessage(id: id, version: version, definition: target)))
  }

  static func cell(_ state: TargetState) -> FleetCellState { FleetCellState(state, since: Timestamp(microseconds: 0)) }

  @discardableResult
  mutating func say(
    _ agent: String, _ states: KeyValuePairs<String, TargetState>, epoch: String = "e", skipping: UInt64 = 0,
    again: Bool = false
  ) -> [FleetEvent] {
    let prev = highWaters[agent, default: 0] + skipping
    let changes = states.enumerated().map { index, pair in
      FleetCellChange(
        number: prev + UInt64(index) + 1, target: pair.key, old: .unknown, cell: Self.cell(pair.value),
        time: Timestamp(microseconds: 0))
    }
    let to = prev + UInt64(changes.count)
    highWaters[agent] = to
    return apply(
      .agent(
        AgentMessage(
          agent: agent, epoch: epoch, after: 0,
          .changes(AgentChangeBatch(prev: prev, from: prev + 1, to: to, again: again, changes: changes)))))
  }

  @discardableResult
  mutating func base(
    _ agent: String, _ states: KeyValuePairs<String, TargetState>, epoch: String = "e", part: Int = 1, of: Int = 1
  ) -> [FleetEvent] {
    let number = highWaters[agent, default: 0]
    return apply(
      .agent(
        AgentMessage(
          agent: agent, epoch: epoch, after: 0,
          .base(
            FleetBasePart(
              prev: number, number: number, part: part, of: of,
              cells: states.map { FleetBaseCell($0.key, Self.cell($0.value)) })))))
  }

  func verdict(
    _ to: FleetVerdict, basis: UInt64, prev: UInt64, from: FleetVerdict? = nil, stream: Int64 = 1
  ) -> FleetMessage {
    .verdict(
      VerdictMessage(
        target: "db", stream: stream, from: from, to: to, votes: FleetVoteCounts(), basis: basis, attempt: 0,
        prev: prev,
        by: "r"))
  }

  @Test("Events have ids from the sequence, their place in the message, and their origin")
  mutating func ids() {
    hello("a")
    let events = say("a", ["db": .up, "web": .down])
    #expect(events.map(\.id.number) == [513, 514])
    #expect(Set(events.map(\.id.check)).count == 2)
    #expect(events.allSatisfy { FleetEventID($0.id.description) == $0.id })
    var other = FleetFold(created: 2)
    #expect(other.apply(nil, sequence: 1, time: 0).isEmpty)
    #expect(other.epoch != fold.epoch)
  }

  @Test("Changes below the number that is known are ignored, each for itself")
  mutating func highWater() {
    say("a", ["db": .up, "web": .up])
    highWaters["a"] = 1
    let events = say("a", ["web": .down, "db": .down])
    #expect(events.count == 1, "2 is known, 3 is not")
    #expect(fold.nodes["a"]?.cells["web"]?.state == .up)
    #expect(fold.nodes["a"]?.cells["db"]?.state == .down)
  }

  @Test("A hole is an event, and the agent's base is requested")
  mutating func hole() {
    say("a", ["db": .up])
    #expect(FleetBaseRequests.awaited(fold).isEmpty)
    let events = say("a", ["db": .down], skipping: 3)
    #expect(events.count == 2)
    #expect(events.first?.content == .gap(agent: "a", after: 1, before: 5))
    // A comparison of the optional number reads past it under AddressSanitizer, by code of the compiler.
    let number = events.first?.id.number ?? 0
    #expect(number == 512)
    #expect(FleetBaseRequests.awaited(fold) == ["a"])
    #expect(fold.nodes["a"]?.holes == 1)
  }

  @Test("Another history of an agent is a gap, once")
  mutating func otherHistory() {
    let first = say("a", ["db": .up, "web": .up])
    #expect(!first.contains { if case .gap = $0.content { true } else { false } })
    highWaters["a"] = 0
    let other = say("a", ["db": .down], epoch: "f")
    #expect(other.first?.content == .gap(agent: "a", after: 2, before: 1) && other.count == 2)
    #expect(say("a", ["db": .up], epoch: "f").count == 1)
    highWaters["a"] = 7
    let third = base("a", ["db": .up], epoch: "g")
    #expect(third.map(\.content) == [.gap(agent: "a", after: 2, before: 7)])
  }

  @Test("Changes that a lost stream had are one gap of their agent, and the state is right")
  mutating func again() {
    let first = say("a", ["db": .down], skipping: 100, again: true)
    #expect(first.map(\.content) == [.gap(agent: "a", after: 100, before: 102)])
    #expect(fold.nodes["a"]?.cells["db"]?.state == .down)
    let second = say("a", ["db": .up, "web": .up], again: true)
    #expect(second.map(\.content) == [.gap(agent: "a", after: 101, before: 104)])
    highWaters["a"] = 101
    #expect(say("a", ["db": .up, "web": .up], again: true).isEmpty, "they are known")
    #expect(FleetBaseRequests.awaited(fold).isEmpty)
  }

  @Test("A version that a lost stream had is an event when the present one has an earlier one")
  mutating func restatedDefinitions() {
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://db:1"
    func restatement(_ version: UInt64) -> FleetMessage {
      .definition(
        DefinitionMessage(id: "db", version: version, definition: FleetTarget(spec: spec), restates: true))
    }
    #expect(apply(restatement(1)).isEmpty)
    #expect(apply(restatement(1)).isEmpty)
    #expect(apply(restatement(2)).count == 1)
  }

  @Test("A base replaces the cells when all its parts have arrived, one after another")
  mutating func base() {
    say("a", ["db": .up, "old": .up])
    base("a", ["db": .down], part: 1, of: 2)
    #expect(fold.nodes["a"]?.cells["db"]?.state == .up)
    base("a", ["web": .up], part: 2, of: 2)
    #expect(fold.nodes["a"]?.cells.mapValues(\.state) == ["db": .down, "web": .up])
    base("a", ["x": .up], part: 1, of: 2)
    say("a", ["db": .up])
    base("a", ["y": .up], part: 2, of: 2)
    #expect(fold.nodes["a"]?.cells.mapValues(\.state) == ["db": .up, "web": .up], "not complete")
  }

  @Test("A lost agent does not vote until its base has arrived")
  mutating func lost() {
    for agent in ["a", "b", "c"] { hello(agent) }
    define("db")
    for agent in ["a", "b", "c"] { say(agent, ["db": .down]) }
    #expect(fold.decision(for: "db")?.verdict == .down)
    let attributes = NodeHello(role: .agent, version: "1")
    let lost = NodeMessage(id: "a", .lost(hello: 1, attributes: attributes, by: "r"))
    #expect(apply(.node(lost)).map(\.content) == [.node("a", .lost, nil)])
    #expect(apply(.node(lost)).isEmpty, "it is lost already")
    #expect(fold.decision(for: "db")?.votes.unknown == 1)
    #expect(fold.nodes["a"]?.vote("db")?.reason == .agentSilent)
    hello("a")
    #expect(fold.decision(for: "db")?.votes.unknown == 1, "its cells may be out of date")
    base("a", ["db": .up])
    #expect(fold.decision(for: "db")?.votes.up == 1)
    #expect(apply(.node(lost)).isEmpty, "the report ends an earlier hello")
  }

  @Test("A target that is handed over keeps its vote until the first result, for some seconds")
  mutating func handOver() {
    for agent in ["a", "b"] { hello(agent) }
    define("db", FleetPlacement(count: 1))
    guard let old = fold.targets["db"]?.assigned.first else { return #expect(Bool(false), "nothing is assigned") }
    let new = old == "a" ? "b" : "a"
    say(old, ["db": .up])
    #expect(fold.decision(for: "db")?.verdict == .up)
    apply(.node(NodeMessage(id: old, .bye)))
    #expect(fold.targets["db"]?.assigned == [new])
    #expect(fold.decision(for: "db")?.verdict == .up)
    say(new, ["db": .down])
    #expect(fold.decision(for: "db")?.verdict == .down)
  }

  @Test("Of two definitions of one version the first counts, and a deleted one does not return")
  mutating func definitions() {
    #expect(define("db").count == 1)
    #expect(define("db", FleetPlacement(count: 1)).isEmpty)
    #expect(fold.targets["db"]?.definition.placement == FleetPlacement())
    #expect(define("db", version: 2, FleetPlacement(count: 1)).count == 1)
    #expect(define("db", version: 3, deleted: true).count == 1)
    #expect(define("db", version: 2).isEmpty)
    #expect(fold.targets["db"] == nil)
    #expect(define("db", version: 4).count == 1)
  }

  @Test("Only the successor of the accepted verdict is accepted")
  mutating func verdicts() {
    hello("a")
    define("db")
    say("a", ["db": .down])
    #expect(apply(verdict(.down, basis: 3, prev: 0, stream: 2)).isEmpty, "of another stream")
    #expect(apply(verdict(.down, basis: 5, prev: 0)).isEmpty, "the basis is not before it")
    #expect(apply(verdict(.down, basis: 3, prev: 0)).count == 1)
    #expect(apply(verdict(.partial, basis: 3, prev: 0)).isEmpty, "made at the same time")
    #expect(apply(verdict(.up, basis: 2, prev: 6, from: .down)).isEmpty, "the basis is older")
    #expect(apply(verdict(.down, basis: 6, prev: 6, from: .up)).isEmpty, "nothing changes")
    #expect(apply(verdict(.up, basis: 7, prev: 6, from: .down)).count == 1)
    #expect(apply(verdict(.down, basis: 9, prev: 6, from: .down)).isEmpty, "its predecessor was replaced")
    #expect(fold.targets["db"]?.verdict?.sequence == 10)
    #expect(apply(verdict(.up, basis: 7, prev: 10, from: .up)).isEmpty, "it restates")
    #expect(fold.targets["db"]?.verdict?.sequence == 12)
    #expect(apply(verdict(.down, basis: 7, prev: 0)).isEmpty, "a delayed first one")
  }

  @Test("A fold that begins later recognizes that it accepted a refused verdict")
  mutating func lateStart() {
    sequence = 100
    define("db")
    #expect(apply(verdict(.partial, basis: 90, prev: 50)).count == 1, "its predecessor is too old for the stream")
    #expect(apply(verdict(.up, basis: 95, prev: 50)).isEmpty, "made at the same time")
    #expect(apply(verdict(.up, basis: 99, prev: 98, from: .down)).count == 1)
    #expect(fold.targets["db"]?.verdict?.message.to == .up)
  }
}
