import ReachabilityFleet
import ReachabilityModel
import Testing

@Suite("FleetAgentChain")
struct FleetAgentChainTests {
  private var stream = ScriptedStream()
  private var agent = ScriptedAgent("node7", epoch: "e1")
  private var now = Duration.zero

  private mutating func settle() {
    for _ in 0..<10_000 where agent.hasWork { agent.step(&stream, at: now) }
    #expect(!agent.hasWork)
  }

  private mutating func change(_ count: Int) {
    for number in 0..<count { agent.change("t\(number % 7)", to: number % 2 == 0 ? .down : .up, at: now) }
  }

  private mutating func wait(_ duration: Duration) {
    now += duration
    agent.fireTimer(at: now)
    settle()
  }

  private func expectComplete(repeated: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) {
    let history = ChainHistory("node7", in: stream)
    #expect(history.problems.isEmpty, sourceLocation: sourceLocation)
    #expect(
      history.changes[agent.epoch, default: []].map(\.number) == agent.changes.map(\.number),
      sourceLocation: sourceLocation)
    #expect(history.repeated == repeated, sourceLocation: sourceLocation)
    #expect(history.base?.epoch == agent.epoch, sourceLocation: sourceLocation)
    #expect(agent.chain.backlog == 0, sourceLocation: sourceLocation)
  }

  @Test("Publishes changes in order, and a base of the cells")
  mutating func order() {
    change(1000)
    agent.connect(true, at: now)
    settle()
    expectComplete()
    let messages = stream.entries.count
    #expect(messages == 4 + 1, "1,000 changes of 256 a message, and one part of a base")
    change(1)
    settle()
    #expect(stream.entries.count == messages + 1)
    expectComplete()
  }

  @Test("Does not publish again what is stored when the reply was lost")
  mutating func replyLost() {
    agent.connect(true, at: now)
    settle()
    change(10)
    agent.step(&stream, at: now)  // reads the outbox
    agent.step(&stream, .replyLost, at: now)
    settle()
    wait(.seconds(1))
    expectComplete()
  }

  @Test("Publishes again what was lost on the way")
  mutating func requestLost() {
    agent.connect(true, at: now)
    settle()
    change(10)
    agent.step(&stream, at: now)
    agent.step(&stream, .requestLost, at: now)
    settle()
    wait(.seconds(1))
    expectComplete()
  }

  @Test("Publishes everything again, marked, after the engine lost its stream")
  mutating func wiped() {
    agent.connect(true, at: now)
    change(600)
    settle()
    stream.wipe()
    // Another agent's messages move the sequence past this agent's last one.
    for _ in 0..<20 { _ = try? stream.publish(.node(NodeMessage(id: "other", .bye))) }
    change(5)
    settle()
    expectComplete(repeated: 600)
    #expect(ChainHistory("node7", in: stream).base?.cells.count == 7)
  }

  @Test("A stored acknowledgement of events that the store does not have does not end publishing")
  func acknowledgementBeyondTheEnd() {
    let saved = FleetAcknowledgement(epoch: "e", acked: UInt64(Int64.max), ackedEver: UInt64(Int64.max))
    var chain = FleetAgentChain(agent: "a", epoch: "e", last: 5, saved: saved)
    _ = chain.handle(.connection(true), at: .zero)
    _ = chain.handle(.completed(.lastMessage(.success(nil)), operation: 1), at: .zero)
    #expect(chain.backlog == 5)
  }

  @Test("Detects a lost stream without events, by the handshake of every minute")
  mutating func wipedWhileIdle() {
    agent.connect(true, at: now)
    change(3)
    settle()
    stream.wipe()
    wait(.seconds(59))
    #expect(stream.entries.isEmpty)
    wait(.seconds(2))
    expectComplete(repeated: 3)
  }

  @Test("Continues from the end of an older copy of the stream")
  mutating func fork() {
    agent.connect(true, at: now)
    change(10)
    settle()
    let copy = stream.last
    change(10)
    settle()
    stream.truncate(through: copy)
    change(1)
    settle()
    expectComplete(repeated: 10)
  }

  @Test("Begins a chain of its own after its store was deleted")
  mutating func storeDeleted() {
    agent.connect(true, at: now)
    change(10)
    settle()
    let end = stream.last
    agent.restart(deletingStore: "e2", at: now)
    change(4)
    settle()
    expectComplete()
    #expect(stream.entries.first { $0.sequence > end }.map(\.message.after) == end, "the chain continues")
    #expect(ChainHistory("node7", in: stream).changes["e1"]?.count == 10)
  }

  @Test("Continues after a restart where the stream ends")
  mutating func restart() {
    agent.connect(true, at: now)
    change(10)
    settle()
    change(300)
    agent.step(&stream, at: now)
    agent.step(&stream, .replyLost, at: now)
    agent.restart(at: now)
    settle()
    expectComplete()
  }

  @Test("Stops when another process publishes with its id")
  mutating func conflict() {
    agent.connect(true, at: now)
    change(1)
    settle()
    var other = ScriptedAgent("node7", epoch: "e9")
    other.connect(true, at: now)
    other.change("x", to: .down, at: now)
    for _ in 0..<100 where other.hasWork { other.step(&stream, at: now) }
    change(1)
    settle()
    #expect(agent.conflict == "e9")
    let end = stream.last
    change(5)
    wait(.seconds(100))
    #expect(stream.last == end)
  }

  /// How many calls the agent makes in a minute, each of which takes some time.
  private mutating func calls(_ fate: ScriptedAgent.Fate, each time: Duration) -> Int {
    var calls = 0
    let end = now + .seconds(60)
    while now < end {
      if agent.hasWork {
        calls += 1
        now += time
        agent.step(&stream, fate, at: now)
      }
      now += .milliseconds(100)
      agent.fireTimer(at: now)
    }
    return calls
  }

  @Test("Waits longer and longer while the engine refuses")
  mutating func backOff() {
    agent.connect(true, at: now)
    let calls = calls(.refused, each: .zero)
    #expect((10...30).contains(calls), "\(calls) calls in a minute")
    settle()
    wait(.seconds(6))
    expectComplete()
  }

  @Test("Tries again soon after a time limit, which was a wait")
  mutating func timeLimits() {
    agent.connect(true, at: now)
    let calls = calls(.requestLost, each: .seconds(1))
    #expect((45...60).contains(calls), "\(calls) calls in a minute")
    settle()
    wait(.seconds(6))
    expectComplete()
  }

  @Test("Sends events of other subjects as nothing, without a hole")
  mutating func otherEvents() {
    agent.connect(true, at: now)
    for number in 0..<50 {
      agent.addOtherEvent(at: now)
      if number % 10 == 0 { agent.change("t", to: number % 20 == 0 ? .down : .up, at: now) }
      settle()
    }
    agent.requestBase(at: now)
    settle()
    expectComplete()
  }

  @Test("Repeats at most the limit, and begins after what it leaves out")
  mutating func repeatedLimit() {
    agent = ScriptedAgent("node7", epoch: "e1", limits: (100_000, 64 << 20))
    agent.connect(true, at: now)
    change(12_000)
    settle()
    stream.wipe()
    change(1)
    settle()
    let history = ChainHistory("node7", in: stream)
    #expect(history.problems.isEmpty)
    #expect(history.repeated == FleetLimits.repeatedEvents)
    #expect(history.starts["e1"] == 2000)
    #expect(history.ends["e1"] == 12_001)
  }
}

extension FleetMessage {
  /// The sequence that an agent's message follows.
  var after: UInt64? {
    guard case .agent(let message) = self else { return nil }
    return message.after
  }
}
