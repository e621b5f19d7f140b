import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// Random histories of an agent and an engine; `REACHD_FLEET_SEEDS` sets how many.
@Suite("FleetAgentChain by seeds")
struct AgentChainSeedTests {
  @Test("Every change is in the last stream once, whatever is lost")
  func seeds() {
    for seed in 0..<Seeds.count {
      var run = ChainRun(seed: seed)
      run.run()
      if let problem = run.problem {
        Issue.record("seed \(seed): \(problem)")
        return
      }
    }
  }
}

/// One random history.
private struct ChainRun {
  private var random: SeededGenerator
  private var stream = ScriptedStream()
  private var agent: ScriptedAgent
  private var now = Duration.zero
  private var isDamaged = false
  private var hasRestarted = false
  private var epochs = 1

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    agent = ScriptedAgent("a", epoch: "e1", limits: (Int.random(in: 20...400, using: &random), 1_000_000))
  }

  mutating func run() {
    for _ in 0..<400 { step() }
    agent.connect(true, at: now)
    // Longer than the longest back-off, and one handshake without events.
    for _ in 0..<40 {
      for _ in 0..<1000 where agent.hasWork { agent.step(&stream, at: now) }
      now += .seconds(2)
      agent.fireTimer(at: now)
    }
  }

  private mutating func step() {
    now += .milliseconds(Int.random(in: 0...400, using: &random))
    agent.fireTimer(at: now)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30:
      let state: TargetState = Bool.random(using: &random) ? .up : .down
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        agent.change("t\(Int.random(in: 0..<9, using: &random))", to: state, at: now)
      }
    case 30..<34: agent.addOtherEvent(at: now)
    case 34..<70: agent.step(&stream, at: now)
    case 70..<75: agent.step(&stream, .requestLost, at: now)
    case 75..<80: agent.step(&stream, .replyLost, at: now)
    case 80..<84: agent.connect(false, at: now)
    case 84..<91: agent.connect(true, at: now)
    case 91..<93:
      hasRestarted = true
      agent.restart(at: now)
    case 93..<94: damage()
    case 94..<95: agent.requestBase(at: now)
    default: _ = try? stream.publish(.node(NodeMessage(id: "other", .bye)))
    }
  }

  private mutating func damage() {
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      isDamaged = true
      stream.wipe()
    case 1:
      isDamaged = true
      stream.truncate(through: UInt64.random(in: 0...stream.last, using: &random))
    default:
      epochs += 1
      agent.restart(deletingStore: "e\(epochs)", at: now)
    }
  }

  var problem: String? {
    let history = ChainHistory("a", in: stream)
    if let first = history.problems.first { return first }
    if agent.conflict != nil { return "a conflict with itself" }
    if !isDamaged, history.repeated > 0 { return "\(history.repeated) repeated without a loss" }
    let start = history.starts[agent.epoch] ?? 0
    let published = history.changes[agent.epoch, default: []]
    if Set(published.map(\.number)).count != published.count { return "a change is repeated" }
    let missing = agent.changes.filter { $0.number > start }.count - published.count
    let skipped = published.reduce(0) { $0 + $1.skipped }
    // A process that is killed while it publishes collapsed changes loses the numbers of missing ones before them.
    if hasRestarted ? skipped > missing : skipped != missing {
      return "\(missing) changes are missing, \(skipped) reported"
    }
    if history.ends[agent.epoch, default: 0] < agent.changes.last?.number ?? 0 { return "the end is missing" }
    guard let base = history.base, base.epoch == agent.epoch else { return "no base of \(agent.epoch)" }
    return nil
  }
}
