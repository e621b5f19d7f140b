import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// Random histories of a fleet; `REACHD_FLEET_SEEDS` sets how many.
@Suite("Fleet by seeds")
struct FleetSeedTests {
  @Test("All replicas have one state and one history, subscribers lose and repeat nothing", arguments: [false, true])
  func seeds(mayDamage: Bool) {
    for seed in 0..<max(Seeds.count / 10, 1) {
      var run = FleetRun(seed: seed, mayDamage: mayDamage)
      run.run()
      if let problem = problem(of: run) {
        Issue.record("seed \(seed): \(problem)")
        return
      }
    }
  }

  private func problem(of run: FleetRun) -> String? {
    var audit = Audit(run.stream)
    audit.run()
    return audit.problem ?? states(of: run, audit.fold) ?? cells(of: run, audit.fold)
      ?? subscribers(of: run, audit.events)
  }

  /// Every replica has the state and the events of a fold from the first message.
  private func states(of run: FleetRun, _ fold: FleetFold) -> String? {
    for replica in run.replicas {
      guard replica.replica.isComplete else { return "\(replica.id) is behind" }
      if let difference = replica.fold.difference(from: fold) { return "\(replica.id): \(difference)" }
    }
    for (id, target) in fold.targets {
      let accepted = target.verdict?.message.to ?? .unknown
      let decided = FleetJudgement(of: id, in: fold, after: accepted)?.verdict
      if decided != accepted { return "\(id) is \(accepted), its votes say \(decided?.rawValue ?? "nothing")" }
    }
    return nil
  }

  /// The cells are what the agents have.
  private func cells(of run: FleetRun, _ fold: FleetFold) -> String? {
    for agent in run.agents {
      guard let node = fold.nodes[agent.id] else { return "\(agent.id) is missing" }
      if node.state != .present || node.awaitsBase { return "\(agent.id) is \(node.state), base \(node.awaitsBase)" }
      if node.cells != agent.cells { return "\(agent.id) has other cells" }
    }
    return nil
  }

  private func subscribers(of run: FleetRun, _ events: [FleetEvent]) -> String? {
    for (index, subscriber) in run.subscribers.enumerated() {
      if !run.isDamaged, subscriber.gaps > 0 { return "subscriber \(index) has a gap without a loss" }
      let restarts = run.replicas[subscriber.replica].restarts
      if index < 2, subscriber.gaps > restarts {
        return "subscriber \(index) has \(subscriber.gaps) gaps, its replica began \(restarts) times again"
      }
      if restarts > run.damages { return "\(restarts) restarts after \(run.damages) losses" }
      if let problem = changes(of: subscriber, run) { return "subscriber \(index): \(problem)" }
      let ids = subscriber.received.map(\.id)
      if Set(ids).count != ids.count { return "subscriber \(index) has events twice" }
      if subscriber.received != Array(events.suffix(subscriber.received.count)) {
        let end = events.suffix(subscriber.received.count)
        let first = zip(subscriber.received, end).first { $0 != $1 }
        return "subscriber \(index) at \(subscriber.replica) after \(subscriber.gaps) gaps has "
          + "\(first.map { "\($0.0.id) \($0.0.content) instead of \($0.1.id) \($0.1.content)" } ?? "more events")"
      }
    }
    return nil
  }

  /// By their origin: after the last snapshot each change of every agent once, or an event that it is missing.
  private func changes(of subscriber: ScriptedSubscriber, _ run: FleetRun) -> String? {
    var numbers: [String: Set<UInt64>] = [:]
    for event in subscriber.received {
      switch event.content {
      case .cell(let agent, _, let change):
        guard numbers[agent, default: []].insert(change.number).inserted else { return "\(change.number) twice" }
      case .gap(let agent, let after, let before):
        guard run.isDamaged else { return "\(agent) has a gap without a loss" }
        numbers[agent, default: []].formUnion(after + 1..<before)
      case .node, .verdict, .definition: continue
      }
    }
    let missing = run.agents.compactMap { agent in
      agent.changes.first { change in
        change.number > subscriber.known[agent.id] ?? 0 && !numbers[agent.id, default: []].contains(change.number)
      }.map { "\(agent.id)-\($0.number)" }
    }
    return missing.isEmpty ? nil : "\(missing) are missing after \(subscriber.gaps) gaps"
  }
}

/// An independent pass over a stream: its events, and every accepted verdict against the votes at its basis.
private struct Audit {
  private(set) var fold: FleetFold
  private(set) var events: [FleetEvent] = []
  private(set) var problem: String?
  private let stream: ScriptedStream

  init(_ stream: ScriptedStream) {
    self.stream = stream
    fold = FleetFold(created: stream.created)
  }

  mutating func run() {
    var judgements: [String: [UInt64: FleetJudgement]] = [:]
    for entry in stream.entries {
      events += fold.apply(entry.message, sequence: entry.sequence, time: entry.time)
      for (id, target) in fold.targets where target.votes != target.assigned.map({ fold.nodes[$0]?.vote(id)?.state }) {
        problem = "the votes on \(id) at \(entry.sequence) are not those of its agents' cells"
      }
      for (id, target) in fold.targets where target.changedAt == entry.sequence {
        judgements[id, default: [:]][entry.sequence] = FleetJudgement(of: id, in: fold, after: nil)
      }
      guard case .verdict(let message) = entry.message, fold.targets[message.target]?.verdict?.message == message,
        message.basis > 0, message.from != message.to || message.isMove
      else { continue }
      var judgement = judgements[message.target]?[message.basis]
      // What was down before another target failed stays down.
      if message.from == .down { judgement?.dependency = nil }
      if judgement?.verdict != message.to || judgement?.dependency != message.dependency {
        problem = "the verdict at \(entry.sequence) does not follow from its basis \(message.basis)"
      }
    }
  }
}

extension FleetFold {
  /// The first difference of two states.
  fileprivate func difference(from other: FleetFold) -> String? {
    if position != other.position { return "position \(position), not \(other.position)" }
    if Set(nodes.keys) != Set(other.nodes.keys) { return "other nodes" }
    for (id, node) in nodes {
      guard let second = other.nodes[id] else { continue }
      if node.state != second.state || node.cells != second.cells || node.highWater != second.highWater
        || node.awaitsBase != second.awaitsBase
      {
        return "another \(id)"
      }
    }
    if Set(targets.keys) != Set(other.targets.keys) { return "other targets" }
    for (id, target) in targets {
      guard let second = other.targets[id] else { continue }
      if target.verdict != second.verdict { return "another verdict of \(id)" }
      if target.assigned != second.assigned || target.version != second.version { return "another \(id)" }
    }
    return nil
  }
}
