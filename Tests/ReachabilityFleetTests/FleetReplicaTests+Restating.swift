import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// What a replica publishes again or requests, because the stream does not have it any longer.
extension FleetReplicaTests {
  private static func verdict(_ to: FleetVerdict, basis: UInt64, prev: UInt64) -> FleetMessage {
    .verdict(
      VerdictMessage(
        target: "db", stream: 1, from: nil, to: to, votes: FleetVoteCounts(), basis: basis, attempt: 0, prev: prev,
        by: "x"))
  }

  /// The expectations of the verdicts that it publishes within some seconds.
  private mutating func expectations(within seconds: Int) -> [FleetEngineExpectedLast?] {
    var found: [FleetEngineExpectedLast?] = []
    for _ in 0..<seconds {
      now += .seconds(1)
      for case .publish(.verdict, let expected) in replica.handle(.timer, at: now) { found.append(expected) }
    }
    return found
  }

  @Test("Expects no verdict that the stream has dropped")
  mutating func droppedVerdict() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 5))
    let hello = NodeHello(role: .agent, version: "1")
    _ = deliver(Self.definition(1), 1, time: 1, pending: 4)
    _ = deliver(.node(NodeMessage(id: "a", .hello(hello, restates: false))), 2, time: 2, pending: 3)
    let base = FleetBasePart(
      prev: 0, number: 1, part: 1, of: 1,
      cells: [FleetBaseCell("db", FleetCellState(.up, since: Timestamp(microseconds: 0)))])
    _ = deliver(.agent(AgentMessage(agent: "a", epoch: "e", after: 0, .base(base))), 3, time: 3, pending: 2)
    _ = deliver(Self.verdict(.down, basis: 2, prev: 0), 4, time: 4, pending: 1)
    _ = deliver(nil, 5, time: 5)
    let before = expectations(within: 4)
    #expect(before.first == .sequence(4))
    _ = answer(FleetEngineStreamState(created: 1, first: 5, last: 5))
    let after = expectations(within: 4)
    #expect(after.first == FleetEngineExpectedLast.none)
  }

  /// The targets whose definition or verdict it restates within ten seconds.
  private mutating func restated() -> [String] {
    var found: [String] = []
    for _ in 0..<10 {
      now += .seconds(1)
      for case .publish(let message, _) in replica.handle(.timer, at: now) {
        switch message {
        case .definition(let definition) where definition.restates: found.append(definition.id)
        case .verdict(let verdict) where verdict.from == verdict.to: found.append("verdict of \(verdict.target)")
        default: continue
        }
      }
    }
    return found
  }

  @Test("Restates what a full stream drops next")
  mutating func fullStream() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 31))
    _ = deliver(Self.definition(1), 1, time: 1, pending: 30)
    let own = NodeHello(role: .replica, version: "1")
    _ = deliver(.node(NodeMessage(id: "r", .hello(own, restates: false))), 2, time: 2, pending: 29)
    _ = deliver(Self.verdict(.up, basis: 1, prev: 0), 20, time: 20, pending: 1)
    _ = deliver(nil, 31, time: 31)
    let early = restated()
    #expect(early == [], "the stream has all of its messages")
    _ = answer(FleetEngineStreamState(created: 1, first: 2, last: 31))
    let late = restated()
    #expect(late == ["db"], "the verdict is not in the third that is dropped next")
  }

  @Test("Restates what the first-ranked replica does not, because it began after the definition was dropped")
  mutating func otherReplica() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 20))
    var sequence: UInt64 = 0
    for id in ["r", "r1", "r2", "r3"] {
      sequence += 1
      let hello = NodeHello(role: .replica, version: "1")
      _ = deliver(.node(NodeMessage(id: id, .hello(hello, restates: false))), sequence, time: 1, pending: 5)
    }
    _ = deliver(Self.definition(1), 5, time: 5, pending: 1)
    _ = deliver(nil, 20, time: 20)
    for id in ["r1", "r2", "r3"] { _ = replica.handle(.heartbeats([id: now]), at: now) }
    let rank = FleetRendezvousHash.rank(of: "r", among: replica.fold.presentReplicas, for: "db") ?? 0
    _ = answer(FleetEngineStreamState(created: 1, first: 6, last: 20))
    let found = restated()
    #expect(rank > 0 && found.contains("db"), "rank \(rank)")
  }

  @Test("Restates what a lost stream had until the present one has it")
  mutating func lostPublications() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    _ = deliver(Self.definition(3), 1, time: 1)
    func definitions(_ effects: [FleetReplica.Effect]) -> [FleetEngineExpectedLast?] {
      effects.compactMap { if case .publish(.definition, let expected) = $0 { expected } else { nil } }
    }
    let first = connect(FleetEngineStreamState(created: 2, first: 1, last: 0))
    #expect(definitions(first) == [FleetEngineExpectedLast.none])
    now += .seconds(2)
    let second = replica.handle(.timer, at: now)
    #expect(definitions(second) == [FleetEngineExpectedLast.none], "the first publication failed")
    _ = deliver(Self.definition(3), 1, time: 2)
    now += .seconds(2)
    let third = replica.handle(.timer, at: now)
    #expect(definitions(third) == [])
  }

  private static func deletion(_ version: UInt64, restates: Bool = false) -> FleetMessage {
    .definition(DefinitionMessage(id: "db", version: version, definition: nil, restates: restates))
  }

  @Test("Restates a deletion before the stream drops it, by age or by size")
  mutating func deletion() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 31))
    _ = deliver(Self.definition(1), 1, time: 1, pending: 30)
    _ = deliver(Self.deletion(2), 2, time: 2, pending: 1)
    _ = deliver(nil, 31, time: 3)
    let early = restated()
    #expect(early == [])
    _ = answer(FleetEngineStreamState(created: 1, first: 2, last: 31))
    let bySize = restated()
    #expect(bySize == ["db"])
    _ = deliver(Self.deletion(2, restates: true), 32, time: 4)
    let again = restated()
    #expect(again == [])
    _ = deliver(nil, 33, time: FleetLimits.restatementAge.nanoseconds + 5)
    let byAge = restated()
    #expect(byAge == ["db"])
  }

  @Test("Does not restate a target that was deleted while it was away for longer than the stream's age")
  mutating func missedDeletion() {
    let day = FleetLimits.streamAge.nanoseconds
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    _ = deliver(Self.definition(1), 1, time: 1)
    // The stream has dropped the deletion, and another replica has restated it.
    _ = connect(FleetEngineStreamState(created: 1, first: 50, last: 60))
    _ = deliver(Self.deletion(2, restates: true), 55, time: 2 * day, pending: 5)
    _ = deliver(nil, 60, time: 2 * day + 1)
    #expect(replica.isComplete)
    #expect(replica.fold.targets.isEmpty)
    let found = restated()
    #expect(found == [])
  }

  @Test("Is complete when the stream has dropped all of its messages")
  mutating func emptyStream() {
    _ = connect(FleetEngineStreamState(created: 1, first: 101, last: 100))
    #expect(replica.isComplete)
  }

  @Test("Requests the base of an agent that the stream no longer has, and proposes nothing before it")
  mutating func missingBase() {
    _ = connect(FleetEngineStreamState(created: 1, first: 7, last: 9))
    _ = deliver(Self.definition(1), 7, time: 1, pending: 2)
    let hello = NodeHello(role: .agent, version: "1")
    _ = deliver(.node(NodeMessage(id: "a", .hello(hello, restates: false))), 8, time: 2, pending: 1)
    let effects = deliver(nil, 9, time: 3)
    #expect(effects.contains(.requestBase("a", after: FleetEngineStreamPosition(sequence: 9, created: 1))))
    let proposals = expectations(within: 10)
    #expect(proposals == [])
  }
}
