import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// A stream that keeps a limited number of messages of each subject has holes.
@Suite("Holes in a stream")
struct FleetHoleTests {
  private static func verdict(_ to: FleetVerdict, from: FleetVerdict?, basis: UInt64, prev: UInt64) -> FleetMessage {
    .verdict(
      VerdictMessage(
        target: "db", stream: 1, from: from, to: to, votes: FleetVoteCounts(), basis: basis, attempt: 0, prev: prev,
        by: "r"))
  }

  private static let definition: FleetMessage = {
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://db:1"
    return .definition(DefinitionMessage(id: "db", version: 1, definition: FleetTarget(spec: spec)))
  }()

  /// The messages of a stream, and what a fold of all of them has.
  private static let messages: [(UInt64, FleetMessage)] = [
    (1, definition), (2, verdict(.up, from: nil, basis: 1, prev: 0)),
    // Refused by a fold that has read everything: it names another predecessor.
    (3, verdict(.partial, from: .up, basis: 2, prev: 1)), (4, verdict(.down, from: .up, basis: 2, prev: 2)),
    (5, verdict(.up, from: .down, basis: 4, prev: 4)), (6, verdict(.down, from: .up, basis: 5, prev: 5)),
    (7, verdict(.up, from: .down, basis: 6, prev: 6)),
  ]

  private static func fold(without evicted: Set<UInt64>) -> FleetFold {
    var fold = FleetFold(created: 1)
    for (sequence, message) in messages where !evicted.contains(sequence) {
      _ = fold.apply(message, sequence: sequence, time: Int64(sequence))
    }
    return fold
  }

  @Test(
    "A fold that did not read evicted verdicts accepts the same last verdict",
    arguments: [
      [], [2], [2, 3], [2, 4], [2, 3, 4], [2, 3, 4, 5], [2, 3, 4, 5, 6], [3, 4, 5], [4], [5], [6], [3, 5],
    ])
  func verdicts(_ evicted: [UInt64]) {
    let all = Self.fold(without: [])
    let late = Self.fold(without: Set(evicted))
    #expect(all.targets["db"]?.verdict?.sequence == 7)
    #expect(late.targets["db"]?.verdict?.sequence == 7)
    #expect(late.targets["db"]?.verdict?.message == all.targets["db"]?.verdict?.message)
  }

  @Test("The fold has every message from the one after a hole on")
  func complete() {
    #expect(Self.fold(without: []).complete == 1)
    #expect(Self.fold(without: [3]).complete == 4)
    #expect(Self.fold(without: [1]).complete == 2)
    #expect(Self.fold(without: [2, 5]).complete == 6)
  }

  @Test("A replica reports a hole before the events after it, and not the beginning of a stream")
  func effects() {
    var replica = FleetReplica(id: "r", attributes: NodeHello(role: .replica, version: "1"))
    _ = replica.handle(.connection(true), at: .zero)
    _ = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 3, last: 9), since: 0), at: .zero)
    func deliver(_ sequence: UInt64) -> [FleetReplica.Effect] {
      let stored = FleetEngineStoredMessage(subject: "", sequence: sequence, time: 1, payload: [UInt8(sequence)])
      return replica.handle(.message(nil, stored, pending: 1), at: .zero).filter {
        if case .hole = $0 { true } else { false }
      }
    }
    #expect(deliver(3) == [] && deliver(4) == [])
    #expect(deliver(7) == [.hole(before: 7)])
    #expect(deliver(8) == [])
  }

  @Test("Events before a hole are not kept for subscribers")
  func window() {
    var window = FleetEventWindow(limit: 10)
    window.begin(at: 3)
    let id = FleetEventID(epoch: 1, number: 3 * FleetLimits.eventsPerMessage, check: 5)
    window.append(FleetEvent(id: id, time: 1, content: .node("a", .present, nil)))
    window.begin(at: 7)
    #expect(window.isEmpty && window.oldest == 7 * FleetLimits.eventsPerMessage - 1)
    let resume = FleetResume(
      after: id, epoch: 1, folded: 7, isComplete: true, oldest: window.oldest, check: window.check(of:))
    #expect(resume == .gap(.tooOld))
  }

  // MARK: - Bases

  @Test("A base is requested again every five seconds, until it is folded")
  func bases() {
    var replica = FleetReplica(id: "r", attributes: NodeHello(role: .replica, version: "1"))
    var now = Duration.zero
    var requested: [Duration] = []
    func note(_ effects: [FleetReplica.Effect]) {
      for case .requestBase("a", _) in effects { requested.append(now) }
    }
    _ = replica.handle(.connection(true), at: now)
    _ = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 1, last: 1), since: 0), at: now)
    let hello = FleetMessage.node(
      NodeMessage(id: "a", .hello(NodeHello(role: .agent, version: "1"), restates: false, instance: 1)))
    func deliver(_ message: FleetMessage, _ sequence: UInt64) {
      let stored = FleetEngineStoredMessage(subject: "", sequence: sequence, time: 1, payload: [UInt8(sequence)])
      note(replica.handle(.message(message, stored, pending: 0), at: now))
    }
    deliver(hello, 1)
    for _ in 0..<20 {
      now += .seconds(1)
      _ = replica.handle(.heartbeats(["a": now]), at: now)
      note(replica.handle(.timer, at: now))
    }
    #expect(requested.count == 5 && requested.first == .zero, "\(requested)")
    #expect(zip(requested, requested.dropFirst()).allSatisfy { $1 - $0 >= .seconds(5) && $1 - $0 <= .seconds(6) })
    deliver(
      .agent(
        AgentMessage(
          agent: "a", epoch: "e", after: 0, .base(FleetBasePart(prev: 0, number: 0, part: 1, of: 1, cells: [])))), 2)
    requested = []
    for _ in 0..<10 {
      now += .seconds(1)
      note(replica.handle(.timer, at: now))
    }
    #expect(requested == [])
  }
}
