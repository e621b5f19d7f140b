import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityFleet

/// A target that is up: neither one agent that is wrong nor the silence of others may make its verdict `down`.
@Suite("False alarms")
struct FalseAlarmTests {
  private static let trials: UInt64 = 1000

  @Test("One agent that fails and 40 % silent agents never lead to down, in 1,000 trials")
  func trials() {
    for seed in 0..<Self.trials {
      var trial = Trial(seed: seed)
      if let problem = trial.run() {
        Issue.record("seed \(seed): \(problem)")
        return
      }
    }
  }
}

/// A fleet of random size, whose agents fail in a random order.
private struct Trial {
  private var random: SeededGenerator
  private var fold = FleetFold(created: 1)
  private var sequence: UInt64 = 0
  private var hellos: [String: UInt64] = [:]
  private let agents: [String]
  private static let targets = ["all", "two", "spread"]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    agents = (0..<Int.random(in: 2...20, using: &random)).map { "a\($0)" }
  }

  mutating func run() -> String? {
    for (id, placement) in zip(
      Self.targets, [FleetPlacement(), FleetPlacement(count: 2), FleetPlacement(count: 3, spreadsZones: true)])
    {
      var spec = TargetSpec()
      spec.id = id
      spec.target = "tcp://db:5432"
      apply(
        .definition(DefinitionMessage(id: id, version: 1, definition: FleetTarget(spec: spec, placement: placement))))
    }
    for agent in agents {
      let hello = NodeHello(role: .agent, zone: "z\(Int.random(in: 0..<3, using: &random))", version: "1")
      apply(.node(NodeMessage(id: agent, .hello(hello, restates: false))))
      hellos[agent] = sequence
      say(agent, .up, number: 1)
    }
    let order = agents.shuffled(using: &random)
    let silent = order.prefix(agents.count * 2 / 5)
    let wrong = order[Int.random(in: 0..<order.count, using: &random)]
    for event in ([wrong] + silent).shuffled(using: &random) {
      if event == wrong, fold.nodes[wrong]?.state == .present { say(wrong, .down, number: 2) }
      if silent.contains(event), fold.nodes[event]?.state == .present {
        let attributes = NodeHello(role: .agent, zone: fold.nodes[event]?.hello?.zone ?? "", version: "1")
        apply(.node(NodeMessage(id: event, .lost(hello: hellos[event] ?? 0, attributes: attributes, by: "r"))))
      }
      for id in Self.targets where fold.decision(for: id)?.verdict == .down { return "\(id) is down after \(event)" }
    }
    return nil
  }

  private mutating func apply(_ message: FleetMessage) {
    sequence += 1
    _ = fold.apply(message, sequence: sequence, time: Int64(sequence) * 100_000_000)
  }

  private mutating func say(_ agent: String, _ state: TargetState, number: UInt64) {
    let cells = Self.targets.map { FleetBaseCell($0, FleetCellState(state, since: Timestamp(microseconds: 0))) }
    let part = FleetBasePart(prev: number - 1, number: number, part: 1, of: 1, cells: cells)
    apply(.agent(AgentMessage(agent: agent, epoch: "e", after: 0, .base(part))))
  }
}
