import ReachabilityFleet
import ReachabilityModel
import TestSupport

/// One random history of three agents, two replicas, four subscribers and an engine.
struct FleetRun {
  private var random: SeededGenerator
  private(set) var stream = ScriptedStream()
  private(set) var agents: [ScriptedAgent]
  private(set) var replicas = [ScriptedReplica("r0"), ScriptedReplica("r1")]
  private(set) var subscribers = (0..<4).map { ScriptedSubscriber(replica: $0 % 2) }
  private(set) var isDamaged = false
  private(set) var damages = 0
  private var isAlive: [Bool]
  private var now = Duration.zero
  private var versions: [String: UInt64] = [:]
  private var nextHeartbeat = Duration.zero
  private let mayDamage: Bool

  init(seed: UInt64, mayDamage: Bool) {
    random = SeededGenerator(seed: seed)
    self.mayDamage = mayDamage
    agents = (0..<3).map { ScriptedAgent("a\($0)", epoch: "e\($0)") }
    isAlive = [true, true, true]
  }

  mutating func run() {
    for index in replicas.indices { replicas[index].connect(true, at: now) }
    for index in agents.indices { agents[index].connect(true, at: now) }
    for target in ["t0", "t1"] { define(target) }
    for _ in 0..<300 { step() }
    for index in replicas.indices { replicas[index].connect(true, at: now) }
    for index in agents.indices {
      if !isAlive[index] { agents[index].restart(at: now) }
      isAlive[index] = true
      agents[index].connect(true, at: now)
    }
    // Longer than silence, back-off, the grace after a loss, and an idle handshake.
    for _ in 0..<220 {
      now += .milliseconds(500)
      tick(losing: false)
      for _ in 0..<20 {
        for index in agents.indices where agents[index].hasWork { agents[index].step(&stream, at: now) }
        for index in replicas.indices {
          replicas[index].step(stream, limit: 1000, at: now)
          replicas[index].send(to: &stream, losing: false)
        }
      }
      for index in subscribers.indices { subscribers[index].step(replicas[subscribers[index].replica], at: now) }
    }
  }

  private mutating func step() {
    now += .milliseconds(Int.random(in: 0...250, using: &random))
    tick(losing: true)
    let agent = Int.random(in: 0..<agents.count, using: &random)
    let replica = Int.random(in: 0..<replicas.count, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<25 where isAlive[agent]:
      let states: [TargetState] = [.up, .down, .unreachable]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        agents[agent].change(
          "t\(Int.random(in: 0..<3, using: &random))", to: states.randomElement(using: &random) ?? .up, at: now)
      }
    case 25..<50 where isAlive[agent]: agents[agent].step(&stream, at: now)
    case 50..<54 where isAlive[agent]: agents[agent].step(&stream, .replyLost, at: now)
    case 54..<58 where isAlive[agent]: agents[agent].step(&stream, .requestLost, at: now)
    case 58..<78: replicas[replica].step(stream, limit: Int.random(in: 1...8, using: &random), at: now)
    case 78..<80: replicas[replica].connect(false, at: now)
    case 80..<86: replicas[replica].connect(true, at: now)
    case 86..<88: define("t\(Int.random(in: 0..<2, using: &random))")
    case 88..<89: kill(agent)
    case 89..<92: if !isAlive[agent] { revive(agent) }
    case 92..<93 where mayDamage: damage()
    default:
      let index = Int.random(in: 0..<subscribers.count, using: &random)
      // The first two stay where they are.
      if index >= 2 { subscribers[index].move(to: replica, at: now) }
    }
    for index in subscribers.indices { subscribers[index].step(replicas[subscribers[index].replica], at: now) }
  }

  /// Heartbeats, timers, and what replicas and agents do by themselves.
  private mutating func tick(losing: Bool) {
    if nextHeartbeat <= now {
      nextHeartbeat = now + .seconds(1)
      for index in replicas.indices {
        for (agent, isAlive) in zip(agents, isAlive) where isAlive && agent.isConnected {
          replicas[index].received(agent.id, at: now)
        }
        for other in replicas where other.id != replicas[index].id && other.replica.isConnected {
          replicas[index].received(other.id, at: now)
        }
      }
      for index in agents.indices where isAlive[index] && agents[index].isConnected { greet(index) }
    }
    for index in agents.indices where isAlive[index] { agents[index].fireTimer(at: now) }
    for index in replicas.indices {
      replicas[index].fireTimer(at: now)
      if !losing || Int.random(in: 0..<3, using: &random) > 0 {
        replicas[index].send(to: &stream, losing: losing && Int.random(in: 0..<10, using: &random) == 0)
      }
      let (known, alive) = (agents, isAlive)
      replicas[index].answerQuestions(at: now) { question in
        zip(known, alive).first { $0.0.id == question.agent && $0.1 }.map { agent, _ in
          question.targets.compactMap { id in agent.cells[id].map { FleetCheckResult(id, $0) } }
        }
      }
      for id in replicas[index].takeRequestedBases() {
        guard let agent = agents.firstIndex(where: { $0.id == id }), isAlive[agent] else { continue }
        agents[agent].requestBase(at: now)
      }
    }
  }

  /// An agent says `hello` when the stream does not have it.
  private mutating func greet(_ index: Int) {
    if case .node(let message) = stream[.node(agents[index].id)]?.message, case .hello = message.content { return }
    let hello = NodeHello(role: .agent, zone: "z\(index % 2)", version: "1")
    _ = try? stream.publish(.node(NodeMessage(id: agents[index].id, .hello(hello, restates: false))))
    agents[index].requestBase(at: now)
  }

  private mutating func define(_ id: String) {
    versions[id, default: 0] += 1
    var spec = TargetSpec()
    spec.id = id
    spec.target = "tcp://\(id):1"
    if id == "t1" { spec.dependsOn = [TargetDependency("t0")] }
    let isDeleted = versions[id, default: 0] > 1 && Int.random(in: 0..<3, using: &random) == 0
    let placement = FleetPlacement(count: Bool.random(using: &random) ? nil : 2)
    _ = try? stream.publish(
      .definition(
        DefinitionMessage(
          id: id, version: versions[id, default: 0],
          definition: isDeleted ? nil : FleetTarget(spec: spec, placement: placement))))
  }

  private mutating func kill(_ agent: Int) {
    isAlive[agent] = false
    agents[agent].connect(false, at: now)
  }

  private mutating func revive(_ agent: Int) {
    isAlive[agent] = true
    agents[agent].restart(at: now)
  }

  private mutating func damage() {
    isDamaged = true
    damages += 1
    if Bool.random(using: &random) {
      stream.wipe()
    } else {
      stream.truncate(through: UInt64.random(in: 0...stream.last, using: &random))
      // An older copy is restored by starting the servers again.
      for index in replicas.indices { replicas[index].connect(false, at: now) }
    }
  }
}
