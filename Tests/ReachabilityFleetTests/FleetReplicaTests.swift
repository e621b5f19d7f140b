import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("FleetReplica")
struct FleetReplicaTests {
  var replica = FleetReplica(id: "r", attributes: NodeHello(role: .replica, version: "1"))
  var now = Duration.zero

  static func definition(_ version: UInt64) -> FleetMessage {
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://db:\(version)"
    return .definition(DefinitionMessage(id: "db", version: version, definition: FleetTarget(spec: spec)))
  }

  mutating func connect(_ state: FleetEngineStreamState) -> [FleetReplica.Effect] {
    _ = replica.handle(.connection(false), at: now)
    return replica.handle(.connection(true), at: now) + answer(state)
  }

  /// The engine answers a request for the stream's state.
  mutating func answer(_ state: FleetEngineStreamState?) -> [FleetReplica.Effect] {
    replica.handle(.streamState(state, since: replica.fold.sequence), at: now)
  }

  static func reads(_ effects: [FleetReplica.Effect]) -> Bool {
    effects.contains { if case .readStreamState = $0 { true } else { false } }
  }

  mutating func deliver(
    _ message: FleetMessage?, _ sequence: UInt64, time: Int64, pending: UInt64 = 0
  ) -> [FleetReplica.Effect] {
    let stored = FleetEngineStoredMessage(subject: "", sequence: sequence, time: time, payload: [UInt8(sequence)])
    return replica.handle(.message(message, stored, pending: pending), at: now)
  }

  /// The number of nodes that it reports as lost within some seconds.
  mutating func lost(within seconds: Int) -> Int {
    var count = 0
    for _ in 0..<seconds {
      now += .seconds(1)
      for case .publish(.node(let message), _) in replica.handle(.timer, at: now) {
        if case .lost = message.content { count += 1 }
      }
    }
    return count
  }

  @Test("Begins with the first message, and again when the stream was created again")
  mutating func streams() {
    let first = connect(FleetEngineStreamState(created: 1, first: 1, last: 2))
    #expect(first.contains(.consume(from: 1)))
    _ = deliver(Self.definition(1), 1, time: 1, pending: 1)
    #expect(!replica.isComplete)
    _ = deliver(nil, 2, time: 2)
    #expect(replica.isComplete)
    let second = connect(FleetEngineStreamState(created: 1, first: 1, last: 2))
    #expect(second.contains(.consume(from: 2)), "to verify the last one")
    #expect(!replica.isComplete)
    let same = deliver(nil, 2, time: 2)
    #expect(!same.contains(.restarted))
    #expect(replica.isComplete)
    let effects = connect(FleetEngineStreamState(created: 9, first: 1, last: 0))
    #expect(effects.contains(.restarted) && effects.contains(.consume(from: 1)))
    #expect(replica.fold.targets.isEmpty)
  }

  @Test("Cannot deny an id while its consumer is interrupted: the stream may have more than it has read")
  mutating func interrupted() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    _ = deliver(Self.definition(1), 1, time: 1)
    #expect(replica.isComplete)
    _ = replica.handle(.interrupted, at: now)
    #expect(!replica.isComplete)
    now += .seconds(2)
    #expect(Self.reads(replica.handle(.timer, at: now)))
    let state = FleetEngineStreamState(created: 1, first: 1, last: 2)
    #expect(answer(state).contains(.consume(from: 1)))
    _ = deliver(Self.definition(1), 1, time: 1, pending: 1)
    #expect(!replica.isComplete)
    _ = deliver(Self.definition(2), 2, time: 2)
    #expect(replica.isComplete)
  }

  @Test("Reads the stream's state again soon when the servers did not respond, as during an election")
  mutating func election() {
    _ = replica.handle(.connection(true), at: now)
    for _ in 0..<5 {
      #expect(answer(nil).contains(.wake(at: now + .seconds(1))))
      now += .seconds(1)
      #expect(Self.reads(replica.handle(.timer, at: now)))
    }
    let state = FleetEngineStreamState(created: 1, first: 1, last: 1)
    #expect(answer(state).contains(.consume(from: 1)))
    // While it reads, an unknown state changes nothing.
    #expect(!answer(nil).contains(.wake(at: now + .seconds(1))))
  }

  @Test("Restates a newer definition after an older copy of the stream was restored")
  mutating func olderCopy() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 2))
    _ = deliver(Self.definition(1), 1, time: 1, pending: 1)
    _ = deliver(Self.definition(2), 2, time: 2)
    let restored = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    #expect(restored.contains(.restarted))
    let effects = deliver(Self.definition(1), 1, time: 1)
    let published = effects.compactMap { effect -> DefinitionMessage? in
      guard case .publish(.definition(let message), _) = effect else { return nil }
      return message
    }
    #expect(published.map(\.version) == [2])
    #expect(published.first?.restates == true)
  }

  @Test("Recognizes another message in the place of the last one")
  mutating func fork() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    _ = deliver(nil, 1, time: 1)
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 3))
    let effects = deliver(nil, 1, time: 7, pending: 2)
    #expect(effects.contains(.restarted) && Self.reads(effects))
    #expect(!replica.isComplete)
  }

  @Test("Reports an agent that is silent, again while the stream has no report, and not after a pause of its own")
  mutating func silence() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    let hello = NodeHello(role: .agent, version: "1")
    _ = deliver(.node(NodeMessage(id: "a", .hello(hello, restates: false))), 1, time: 1)
    for _ in 0..<5 {
      let early = lost(within: 2)
      #expect(early == 0)
      _ = replica.handle(.heartbeats(["a": now]), at: now)
    }
    now += .seconds(20)
    let afterPause = lost(within: 5)
    #expect(afterPause == 0, "this process did not run")
    let afterSilence = lost(within: 4)
    #expect(afterSilence == 1)
    // The stream has no report: its publication failed.
    let later = lost(within: 3)
    #expect(later == 1)
  }

  @Test("Asks an agent that has missed a heartbeat, and reports it when the engine has no subscription of it twice")
  mutating func absence() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 2))
    let agent = NodeHello(role: .agent, version: "1")
    _ = deliver(.node(NodeMessage(id: "a", .hello(agent, restates: false))), 1, time: 1, pending: 1)
    let own = NodeHello(role: .replica, version: "1")
    _ = deliver(.node(NodeMessage(id: "r", .hello(own, restates: false))), 2, time: 2)
    var asked: [Int] = []
    var reports: [Int] = []
    for second in 1...12 where reports.isEmpty {
      now += .seconds(1)
      let effects = replica.handle(.timer, at: now)
      guard effects.contains(.ask("a")) else { continue }
      asked.append(second)
      let isAnswered = asked.count == 2
      let answer = replica.handle(isAnswered ? .heartbeats(["a": now]) : .absent("a"), at: now)
      if answer.contains(where: { if case .publish(.node, _) = $0 { true } else { false } }) { reports.append(second) }
    }
    // The time of an agent that is seen for the first time begins with the first round, after a second.
    #expect(asked == [5, 6, 10, 11] && reports == [11], "the heartbeat ended the doubt, and two absences report it")
  }

  @Test("An answer that the engine gave before later messages is not the loss of them")
  mutating func lateAnswer() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    _ = deliver(Self.definition(1), 1, time: 1)
    _ = deliver(Self.definition(2), 2, time: 2)
    let late = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 1, last: 1), since: 1), at: now)
    #expect(!late.contains(.restarted))
    let loss = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 1, last: 1), since: 2), at: now)
    #expect(loss.contains(.restarted))
    let earlier = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 1, last: 1), since: 2), at: now)
    #expect(!earlier.contains(.restarted), "the fold began again since that request")
  }

  @Test("Keeps nothing of heartbeats of nodes that the stream does not have")
  mutating func unknownNodes() {
    _ = connect(FleetEngineStreamState(created: 1, first: 1, last: 1))
    _ = deliver(.node(NodeMessage(id: "a", .hello(NodeHello(role: .agent, version: "1"), restates: false))), 1, time: 1)
    for id in ["a", "b"] { _ = replica.handle(.heartbeats([id: now]), at: now) }
    #expect(replica.silence.lastReceived("a") != nil && replica.silence.lastReceived("b") == nil)
  }
}
