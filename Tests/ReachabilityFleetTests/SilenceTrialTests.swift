import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// Agents that fall silent together, as two replicas report them.
@Suite("Agents that fall silent together")
struct SilenceTrialTests {
  private static let trials: UInt64 = 200

  @Test(
    "Three of five agents end while two say down: the verdict is unknown, and never down", arguments: [true, false])
  func killed(connectionsEnd: Bool) {
    for seed in 0..<Self.trials {
      var trial = SilenceTrial(seed: seed, votes: "dduuu", connectionsEnd: connectionsEnd)
      let verdicts = trial.verdicts(afterEndOf: 2...4)
      #expect(verdicts == [.unknown], "seed \(seed)")
      guard verdicts == [.unknown] else { return }
    }
  }

  @Test("Three that say down end: the verdict changes once")
  func voters() {
    for seed in 0..<Self.trials {
      var trial = SilenceTrial(seed: seed, votes: "uuddd", connectionsEnd: true)
      let verdicts = trial.verdicts(afterEndOf: 2...4)
      #expect(verdicts == [.unknown], "seed \(seed)")
      guard verdicts == [.unknown] else { return }
    }
  }

  @Test("Agents that end together are reported together")
  func reports() {
    for seed in 0..<Self.trials {
      var trial = SilenceTrial(seed: seed, votes: "uuuuu", connectionsEnd: true)
      _ = trial.verdicts(afterEndOf: 2...4)
      let times = trial.reportTimes
      #expect(times.count == 3, "seed \(seed)")
      let spread = (times.values.max() ?? .zero) - (times.values.min() ?? .zero)
      #expect(spread <= .milliseconds(1100), "seed \(seed): \(times)")
      guard spread <= .milliseconds(1100) else { return }
    }
  }

  @Test("One agent that ends is reported as soon as before")
  func single() {
    for seed in 0..<Self.trials {
      var trial = SilenceTrial(seed: seed, votes: "uuuuu", connectionsEnd: true)
      _ = trial.verdicts(afterEndOf: 2...2)
      #expect(trial.reportTimes.values.allSatisfy { $0 < .milliseconds(5100) } && trial.reportTimes.count == 1)
    }
  }
}

@Suite("A replica that heartbeats do not reach")
struct BrokenPathTests {
  private static let agent = "a"
  private var stream = ScriptedStream()
  private var replicas = [ScriptedReplica("r0"), ScriptedReplica("r1")]
  private var now = Duration.zero

  private mutating func hello(restates: Bool) {
    _ = try? stream.publish(
      .node(NodeMessage(id: Self.agent, .hello(NodeHello(role: .agent, version: "1"), restates: restates))))
  }

  /// The reports of the agent in some seconds, in which its heartbeats reach the first replica only.
  private mutating func reports(within seconds: Int, whileRunning isRunning: Bool = true) -> [Duration] {
    var times: [Duration] = []
    let begin = now
    for second in 0..<seconds {
      now += .seconds(1)
      if isRunning, second.isMultiple(of: 2) { replicas[0].received(Self.agent, at: now) }
      for index in replicas.indices {
        replicas[index].received("r\(1 - index)", at: now)
        replicas[index].fireTimer(at: now)
      }
      let known = stream.entries.count
      for _ in 0..<8 {
        for index in replicas.indices {
          replicas[index].step(stream, limit: 10, at: now)
          replicas[index].send(to: &stream, losing: false)
        }
      }
      for entry in stream.entries[known...] {
        guard case .node(let node) = entry.message, case .lost = node.content, node.id == Self.agent else { continue }
        times.append(now - begin)
        if isRunning { hello(restates: true) }
      }
    }
    return times
  }

  @Test("Waits longer for an agent that answers its reports, and reports it after six seconds again later")
  mutating func patience() {
    hello(restates: false)
    for index in replicas.indices { replicas[index].connect(true, at: now) }
    let reports = reports(within: 600)
    #expect(reports.count <= 30, "\(reports)")
    let last = zip(reports.dropFirst(5), reports.dropFirst(4)).map { $0 - $1 }
    #expect(last.allSatisfy { $0 >= .seconds(24) }, "\(reports)")
    // The other replica reports it as soon as before.
    let end = self.reports(within: 20, whileRunning: false)
    #expect(end.first.map { $0 <= .seconds(9) } == true, "\(end)")
  }

  @Test("An agent that was restarted after its report is reported as soon as before")
  mutating func restart() {
    hello(restates: false)
    for index in replicas.indices { replicas[index].connect(true, at: now) }
    for _ in 0..<5 {
      let reports = reports(within: 12, whileRunning: false)
      #expect(reports.first.map { $0 <= .seconds(9) } == true, "\(reports)")
      hello(restates: false)
      _ = self.reports(within: 2)
    }
  }
}

/// A fleet of five agents, two replicas and one target in simulated time.
private struct SilenceTrial {
  private var random: SeededGenerator
  private var stream = ScriptedStream()
  private var replicas = [ScriptedReplica("r0"), ScriptedReplica("r1")]
  private var now = Duration.zero
  private let agents: [String]
  /// When each agent sends its next heartbeat; nil for one that has ended.
  private var heartbeats: [Duration?]
  /// Whether the engine notices that the connections of ended agents have ended, so that it has no subscription of them.
  private let connectionsEnd: Bool
  /// When the report of each agent is in the stream, since the end.
  private(set) var reportTimes: [String: Duration] = [:]

  private static let step = Duration.milliseconds(50)

  init(seed: UInt64, votes: String, connectionsEnd: Bool) {
    random = SeededGenerator(seed: seed)
    self.connectionsEnd = connectionsEnd
    agents = votes.indices.enumerated().map { "a\($0.offset)" }
    heartbeats = []
    for _ in agents { heartbeats.append(.milliseconds(Int.random(in: 0..<2000, using: &random))) }
    var spec = TargetSpec()
    spec.id = "t"
    spec.target = "tcp://db:5432"
    publish(.definition(DefinitionMessage(id: "t", version: 1, definition: FleetTarget(spec: spec))))
    for (agent, vote) in zip(agents, votes) {
      publish(.node(NodeMessage(id: agent, .hello(NodeHello(role: .agent, version: "1"), restates: false))))
      let cell = FleetBaseCell("t", FleetCellState(vote == "d" ? .down : .up, since: Timestamp(microseconds: 0)))
      publish(
        .agent(
          AgentMessage(
            agent: agent, epoch: "e", after: 0,
            .base(FleetBasePart(prev: 0, number: 1, part: 1, of: 1, cells: [cell])))))
    }
    for index in replicas.indices { replicas[index].connect(true, at: now) }
    // The rounds of the replicas are not at one time.
    run(for: .seconds(10) + .milliseconds(Int.random(in: 0..<2000, using: &random)))
  }

  /// Ends agents, and returns the verdicts of the following seconds.
  mutating func verdicts(afterEndOf places: ClosedRange<Int>) -> [FleetVerdict] {
    let before = stream.entries.count
    for place in places { heartbeats[place] = nil }
    let end = now
    for _ in 0..<300 {
      let known = stream.entries.count
      run(for: Self.step)
      for entry in stream.entries[known...] {
        guard case .node(let node) = entry.message, case .lost = node.content, reportTimes[node.id] == nil else {
          continue
        }
        reportTimes[node.id] = now - end
      }
    }
    return stream.entries[before...].compactMap { entry in
      guard case .verdict(let verdict) = entry.message else { return nil }
      return verdict.to
    }
  }

  private mutating func run(for time: Duration) {
    let end = now + time
    while now < end {
      now += Self.step
      for (index, agent) in agents.enumerated() {
        guard let due = heartbeats[index], due <= now else { continue }
        heartbeats[index] = due + .seconds(2)
        for place in replicas.indices { replicas[place].received(agent, at: now) }
      }
      for index in replicas.indices {
        replicas[index].fireTimer(at: now)
        if now - Duration.seconds(Int64(now / .seconds(1))) < Self.step {
          replicas[1 - index].received("r\(index)", at: now)
        }
        let questions = replicas[index].takeQuestions()
        for agent in questions where connectionsEnd {
          guard let place = agents.firstIndex(of: agent), heartbeats[place] == nil else { continue }
          replicas[index].absent(agent, at: now)
        }
      }
      for _ in 0..<8 {
        for index in replicas.indices {
          replicas[index].step(stream, limit: 1, at: now)
          replicas[index].send(to: &stream, losing: false)
        }
      }
    }
  }

  private mutating func publish(_ message: FleetMessage) { _ = try? stream.publish(message) }
}
