import Locks
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityChecks

/// Gates of a schedule over a scripted kernel and prober.
@Suite("Gates of a schedule")
struct GateScheduleTests {
  /// The result of every check.
  final class Results: Sendable {
    private let value = Locked(CheckScheduleTests.result(.up))

    var current: CheckResult {
      get { value.withLock(\.self) }
      set { value.withLock { $0 = newValue } }
    }
  }

  let bench: Bench
  let results = Results()
  let prober: ScriptedProber
  let schedule: CheckSchedule

  init() throws {
    bench = try Bench.started()
    let results = results
    prober = ScriptedProber { _ in results.current }
    schedule = CheckSchedule(monitor: bench.monitor, checker: Checker(monitor: bench.monitor, prober: prober))
  }

  private func definition(_ id: String, interval: Duration = .seconds(86_400)) throws -> TargetDefinition {
    TargetDefinition(id: id, target: try CheckTarget("tcp://10.0.0.9:1"), interval: interval, fall: 1)
  }

  private func gate(_ id: String = "app", becomes state: GateState) async throws {
    let isReached = eventually { schedule.gates.report(of: id)?.status.state == state }
    #expect(isReached, "\(id) is \(String(describing: schedule.gates.report(of: id)?.status)), not \(state)")
  }

  private func restoredTarget(_ interval: Duration) throws -> RestoredTarget {
    var definition = try definition("db", interval: interval)
    definition.timeout = .milliseconds(10)
    return RestoredTarget(
      definition: definition, origin: .runtime, revision: 1, changes: 0,
      status: TargetStatus.Restorable(
        state: .up, reason: nil, since: Timestamp(microseconds: 7), consecutiveFailures: 0, flapBits: 0, wasUp: true,
        isFlapping: false))
  }

  @Test(
    "A restored state counts within the same boot, for two intervals or ten seconds",
    arguments: [
      (nil, Duration.seconds(30), false), (.seconds(1), .seconds(1), true), (.milliseconds(9_999), .seconds(1), true),
      (.seconds(10), .seconds(1), false), (.seconds(59), .seconds(30), true), (.seconds(60), .seconds(30), false),
      (.seconds(3 * 86_400), .seconds(30), false),
    ] as [(Duration?, Duration, Bool)])
  func restored(idle: Duration?, interval: Duration, counts: Bool) async throws {
    let schedule = CheckSchedule(
      monitor: bench.monitor, checker: Checker(monitor: bench.monitor, prober: ScriptedProber { _ in nil }))
    schedule.gates.restore([
      RestoredGate(
        definition: GateDefinition(id: "app", targets: ["db"], openAfter: .seconds(3_600)), origin: .runtime,
        state: .open,
        since: Timestamp(microseconds: 5))
    ])
    schedule.restore([try restoredTarget(interval)], firstRevision: 10, idle: idle)
    schedule.gates.configure([])
    let status = try #require(schedule.gates.report(of: "app")?.status)
    #expect(status.state == (counts ? .open : .closed) && status.reason == (counts ? nil : .starting))
    #expect((status.since == Timestamp(microseconds: 5)) == counts)
    #expect(status.missing == (counts ? [] : ["db"]))
  }

  @Test("The event of a gate follows the target's that decides it")
  func order() async throws {
    schedule.put(try definition("db"))
    #expect(eventually { schedule.report(of: "db")?.status.state == .up })
    let (recorder, subscription) = try bench.record([.target, .gate])
    try schedule.gates.put(GateDefinition(id: "app", targets: ["db"]))
    try await gate(becomes: .open)
    results.current = CheckScheduleTests.result(.down, .refused)
    #expect(schedule.check("db") { _ in })
    // A change is visible before its event is delivered.
    #expect(eventually { recorder.updates.count == 3 })
    let transitions = recorder.updates.compactMap(\.transition)
    #expect(transitions.map(\.kind) == [.gate, .target, .gate])
    #expect(zip(transitions, transitions.dropFirst()).allSatisfy { $0.sequence + 1 == $1.sequence })
    guard case .gate(let from, let report, false)? = transitions.last?.change else { return }
    #expect(from == .open && report.status.missing == ["db"] && transitions.last?.causes == [.check])
    subscription.cancel()
  }

  @Test("A lost link closes a gate with one event")
  func lostLink() async throws {
    for number in 0..<200 {
      var definition = try definition("t\(number)")
      definition.target = try CheckTarget("tcp://192.0.2.\(number + 1):1")
      schedule.put(definition)
    }
    #expect(eventually { schedule.reports().allSatisfy { $0.status.state == .up } })
    try schedule.gates.put(GateDefinition(id: "app", targets: Set((0..<200).map { "t\($0)" })))
    try schedule.gates.put(GateDefinition(id: "machine", machine: .reachable))
    let (recorder, subscription) = try bench.record([.gate])
    bench.kernel.change { $0.removeDefaults(.ipv4) }
    bench.kernel.advance(by: Bench.settle)
    try await gate("app", becomes: .closed)
    try await gate("machine", becomes: .closed)
    #expect(eventually { schedule.gates.report(of: "app")?.status.counts[.unreachable] == 200 })
    // A change is visible before its event is delivered; the event of another gate comes after all of them.
    try schedule.gates.put(GateDefinition(id: "last", machine: .reachable))
    func changed() -> [String] {
      recorder.updates.compactMap(\.transition).compactMap { transition in
        guard case .gate(_, let report, _) = transition.change else { return nil }
        return report.definition.id
      }
    }
    #expect(eventually { changed().last == "last" })
    #expect(Set(changed()) == ["app", "machine", "last"] && changed().count == 3)
    #expect(schedule.gates.report(of: "app")?.status.missing.count == GateStatus.missingLimit)
    subscription.cancel()
  }

  @Test("A removed target closes the gate that names it, and leaves the one that selects it")
  func removal() async throws {
    for id in ["a", "b"] {
      var definition = try definition(id)
      definition.labels = ["tier": "backend"]
      schedule.put(definition)
    }
    try schedule.gates.put(GateDefinition(id: "named", targets: ["a"]))
    try schedule.gates.put(GateDefinition(id: "selected", selection: ["tier": "backend"], includesClients: true))
    try await gate("named", becomes: .open)
    try await gate("selected", becomes: .open)
    try schedule.remove("a")
    #expect(schedule.gates.report(of: "named")?.status.reason == .notRegistered)
    #expect(schedule.gates.report(of: "selected")?.status.state == .open)
    #expect(schedule.gates.report(of: "selected")?.status.counts.total == 1)
    _ = schedule.pause("b")
    #expect(schedule.gates.report(of: "selected")?.status.reason == .missing)
  }

  @Test("A gate opens at its time without another event")
  func settling() async throws {
    schedule.put(try definition("db"))
    try schedule.gates.put(GateDefinition(id: "app", targets: ["db"], openAfter: .milliseconds(50)))
    try await gate(becomes: .open)
    #expect(schedule.gates.report(of: "app")?.status.opensAt == nil)
  }

  @Test("Two schedules' readers get consistent members while targets change")
  func concurrency() async throws {
    try schedule.gates.put(GateDefinition(id: "app", selection: ["x": "1"], includesClients: true, atLeast: .count(1)))
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask { [schedule] in
          for round in 0..<50 {
            guard var definition = try? self.definition("w\(worker)") else { return }
            definition.labels = round.isMultiple(of: 2) ? ["x": "1"] : [:]
            schedule.put(definition)
            if round % 7 == 0 { try? schedule.remove("w\(worker)") }
            if let status = schedule.gates.report(of: "app")?.status, let members = schedule.gates.members(of: "app") {
              #expect(status.counts.total <= 4 && members.count <= 4)
            }
          }
        }
      }
    }
    let registered = schedule.reports().filter { $0.definition.labels["x"] == "1" }.map(\.definition.id)
    #expect(Set(registered) == Set((schedule.gates.members(of: "app") ?? []).map(\.id)))
  }

  @Test("A configuration of targets and gates takes effect as a whole")
  func configuration() async throws {
    try schedule.configure([try definition("old"), try definition("kept")])
    schedule.gates.configure([GateDefinition(id: "app", targets: ["old", "kept"])])
    try await gate(becomes: .open)
    let (recorder, subscription) = try bench.record([.gate])
    schedule.gates.holdUntilConfigured()
    try schedule.configure([try definition("kept")])
    #expect(schedule.gates.report(of: "app")?.status.state == .open)
    schedule.gates.configure([GateDefinition(id: "app", targets: ["kept"])])
    #expect(schedule.gates.report(of: "app")?.status.state == .open)
    // The change of the definition is the only event.
    try schedule.gates.put(GateDefinition(id: "last", machine: .reachable))
    #expect(eventually { recorder.updates.count == 2 })
    let states = recorder.updates.compactMap(\.transition).map { transition in
      guard case .gate(let from, let report, _) = transition.change else { return "" }
      return "\(report.definition.id) \(from?.rawValue ?? "-") \(report.status.state)"
    }
    #expect(states == ["app open open", "last - open"])
    subscription.cancel()
  }

  @Test("A change of the machine while gates are held is applied afterwards")
  func machineWhileHeld() async throws {
    try schedule.gates.put(GateDefinition(id: "app", machine: .reachable), origin: .configuration)
    try await gate(becomes: .open)
    schedule.gates.holdUntilConfigured()
    bench.kernel.change { $0.removeDefaults(.ipv4) }
    bench.kernel.advance(by: Bench.settle)
    #expect(eventually { !bench.monitor.snapshot.status.isReachable })
    #expect(schedule.gates.report(of: "app")?.status.state == .open)
    schedule.gates.configure([GateDefinition(id: "app", machine: .reachable)])
    try await gate(becomes: .closed)
  }

  @Test("A stored gate that belongs to another origin after a restart has an event, so that it is stored again")
  func takenOver() throws {
    let (recorder, subscription) = try bench.record([.gate])
    let definition = GateDefinition(id: "app", targets: ["none"])
    schedule.gates.restore([
      RestoredGate(definition: definition, origin: .runtime, state: .closed, since: Timestamp(microseconds: 5))
    ])
    schedule.gates.configure([definition])
    #expect(eventually { recorder.updates.count == 1 })
    #expect(schedule.gates.report(of: "app")?.origin == .configuration)
    subscription.cancel()
  }
}
