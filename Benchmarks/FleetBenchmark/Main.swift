internal import FleetAPI
internal import Glibc
internal import ReachabilityFleet
internal import ReachabilityModel

/// The fold of a replica without an engine: 100 agents change 1,000 targets each, several times.
@main struct FleetBenchmark {
  private static let agents = 100
  private static let targets = 1_000
  private static let rounds = 21

  private var fold = FleetFold(created: 1)
  private var number: UInt64 = 0

  static func main() {
    var alone: [Double] = []
    var decoded: [Double] = []
    var benchmark = FleetBenchmark()
    benchmark.begin()
    for round in 0..<rounds {
      let messages = benchmark.changes(round % 2 == 0 ? .down : .up)
      if round % 4 < 2 {
        alone.append(benchmark.rate { benchmark in messages.reduce(0) { $0 + benchmark.apply($1) } })
      } else {
        let payloads = messages.map { (payload: FleetWire.encode($0), subject: "\($0.subject)") }
        decoded.append(
          benchmark.rate { benchmark in
            payloads.reduce(0) { $0 + benchmark.apply(FleetWire.decode($1.payload, subject: $1.subject)) }
          })
      }
    }
    report("fold alone", alone, " (bar: ≥ 500,000 changes/s)")
    report("decode and fold", decoded)
  }

  /// Prints the median of all rates but the first, whose round also allocates memory.
  private static func report(_ name: String, _ rates: [Double], _ bar: String = "") {
    let sorted = rates.dropFirst().sorted()
    let median = Int(sorted[sorted.count / 2])
    print(
      "  \(name), \(agents) agents × \(targets) targets: median \(median) changes/s of \(sorted.count) rounds\(bar)")
  }

  /// The changes per second of a closure that folds one change of each cell and returns the number of events.
  private mutating func rate(_ body: (inout FleetBenchmark) -> Int) -> Double {
    let begin = Self.seconds()
    let events = body(&self)
    let end = Self.seconds()
    guard events == Self.agents * Self.targets else { fatalError("\(events) events") }
    return Double(events) / (end - begin)
  }

  private static func seconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  // MARK: - Messages

  /// Applies the next message, one millisecond after the last one; returns the number of its events.
  private mutating func apply(_ message: FleetMessage?) -> Int {
    fold.apply(message, sequence: fold.sequence + 1, time: fold.time + 1_000_000).count
  }

  /// Defines the targets, and has every agent report all of them as `up`.
  private mutating func begin() {
    for target in 0..<Self.targets {
      var spec = TargetSpec()
      spec.id = "t\(target)"
      spec.target = "route://192.0.2.1"
      _ = apply(
        .definition(DefinitionMessage(id: "t\(target)", version: 1, definition: FleetTarget(spec: spec))))
    }
    for agent in 0..<Self.agents {
      let hello = NodeHello(role: .agent, zone: "z\(agent % 10)", version: "0")
      _ = apply(.node(NodeMessage(id: "a\(agent)", .hello(hello, restates: false))))
    }
    for message in changes(.up) { _ = apply(message) }
  }

  /// One change of every cell, in messages as agents publish them.
  private mutating func changes(_ state: TargetState) -> [FleetMessage] {
    let first = number
    number += UInt64(Self.targets)
    var messages: [FleetMessage] = []
    for start in stride(from: 0, to: Self.targets, by: FleetLimits.changesPerMessage) {
      let end = min(start + FleetLimits.changesPerMessage, Self.targets)
      for agent in 0..<Self.agents {
        let changes = (start..<end).map { target in
          FleetCellChange(
            number: first + UInt64(target) + 1, target: "t\(target)", old: state == .up ? .down : .up,
            cell: FleetCellState(state, since: Timestamp(microseconds: 0)), time: Timestamp(microseconds: 0))
        }
        let batch = AgentChangeBatch(
          prev: first + UInt64(start), from: first + UInt64(start) + 1, to: first + UInt64(end), changes: changes)
        messages.append(.agent(AgentMessage(agent: "a\(agent)", epoch: "e", after: 0, .changes(batch))))
      }
    }
    return messages
  }
}
