import Locks
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityChecks

@Suite("CheckSchedule")
struct CheckScheduleTests {
  let bench: Bench
  let prober: ScriptedProber
  let schedule: CheckSchedule

  init() throws {
    bench = try Bench.started()
    prober = ScriptedProber { _ in Self.result(.up) }
    schedule = CheckSchedule(monitor: bench.monitor, checker: Checker(monitor: bench.monitor, prober: prober))
  }

  static func result(_ state: CheckResult.State, _ reason: Reason? = nil) -> CheckResult {
    CheckResult(
      state, reason, address: IPAddress("10.0.0.9"), startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1))
  }

  func definition(_ id: String, _ target: String = "tcp://10.0.0.9:1") throws -> TargetDefinition {
    TargetDefinition(id: id, target: try CheckTarget(target))
  }

  /// Waits until a target is in a state; the limit is long, because the machine may be busy.
  func state(of id: String, becomes state: TargetState) async throws {
    #expect(
      await eventually(within: patience) { () async in schedule.report(of: id)?.status.state == state },
      "\(id) is \(String(describing: schedule.report(of: id)?.status)), not \(state)")
  }

  @Test("A new target is checked immediately and its change numbered")
  func one() async throws {
    let (recorder, subscription) = try bench.record([.status, .path, .interface, .target])
    schedule.put(try definition("db"))
    try await state(of: "db", becomes: .up)
    bench.kernel.change { $0.addInterface(3, "eth1", addresses: ["10.1.0.5/24"]) }
    // A change is visible before its event is delivered.
    #expect(await eventually { () async in recorder.updates.compactMap(\.transition).count == 3 })
    let transitions = recorder.updates.compactMap(\.transition)
    #expect(transitions.map(\.kind) == [.target, .target, .interface])
    #expect(transitions.map(\.sequence) == [2, 3, 4])
    guard transitions.count > 1, case .target(let from, let report, false) = transitions[1].change else { return }
    #expect(from == .unknown && report.status.state == .up && transitions[1].causes == [.check])
    #expect(bench.monitor.snapshot.sequence == 4)
    subscription.cancel()
  }

  @Test("A change of a target does not change the machine's state")
  func snapshot() async throws {
    let before = bench.monitor.snapshot
    schedule.put(try definition("db"))
    try await state(of: "db", becomes: .up)
    #expect(bench.monitor.snapshot == before)
  }

  @Test("A lost link makes all targets unreachable without a check")
  func lostLink() async throws {
    let definitions = try (0..<1000).map { number in
      var definition = try definition("t\(number)", "tcp://192.0.2.\(number % 250 + 1):\(number + 1)")
      // Longer than the test: every check below has a cause.
      definition.interval = .seconds(86_400)
      return definition
    }
    #expect(schedule.put(definitions).count == 1000)
    for number in 0..<1000 { try await state(of: "t\(number)", becomes: .up) }
    let (recorder, subscription) = try bench.record([.target])
    let checks = prober.requests.count
    bench.kernel.change { $0.removeDefaults(.ipv4) }
    bench.kernel.advance(by: Bench.settle)
    for number in 0..<1000 { try await state(of: "t\(number)", becomes: .unreachable) }
    #expect(prober.requests.count == checks)
    bench.kernel.change { $0.addDefault(via: "10.0.0.1", on: 2) }
    for number in 0..<1000 { try await state(of: "t\(number)", becomes: .up) }
    #expect(prober.requests.count == checks + 1000)
    subscription.cancel()
    // A slow subscriber may skip events, but receives no `down`, and the numbers increase.
    let heard = recorder.updates.compactMap(\.transition)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    for transition in heard {
      guard case .target(_, let report, _) = transition.change else { continue }
      #expect(report.status.state != .down)
    }
    #expect(schedule.statistics.targets[.up] == 1000)
  }

  @Test("A target registered without a route is unreachable, not down")
  func registeredWithoutRoute() async throws {
    bench.kernel.change { $0.removeDefaults(.ipv4) }
    bench.kernel.advance(by: Bench.settle)
    prober.follow { _ in Self.result(.down, .connectTimeout) }
    schedule.put(try definition("db", "tcp://192.0.2.1:1"))
    try await state(of: "db", becomes: .unreachable)
    #expect(schedule.report(of: "db")?.status.reason == .noRoute)
  }

  @Test("Only the configuration changes its own targets")
  func configured() async throws {
    schedule.put(try definition("own"))
    #expect(try schedule.configure([try definition("a"), try definition("b")]) == TargetConfigurationResult())
    try await state(of: "a", becomes: .up)
    #expect(schedule.put(try definition("a", "tcp://10.0.0.8:1")) == .rejected(.configured))
    #expect(throws: ScheduleChangeError.configured) { try schedule.remove("a") }
    let before = try #require(schedule.report(of: "a"))
    try schedule.configure([try definition("a"), try definition("c")])
    #expect(schedule.report(of: "a") == before, "what is unchanged keeps its state")
    #expect(schedule.reports().map(\.definition.id) == ["a", "c", "own"])
    #expect(schedule.pause("a")?.status.state == .paused)
  }

  @Test("A failed precondition changes nothing")
  func preconditions() throws {
    let one = try definition("db")
    #expect(schedule.put(one, if: .present) == .rejected(.precondition))
    guard case .created(let report) = schedule.put(one, if: .absent) else {
      Issue.record("was not created")
      return
    }
    #expect(schedule.put(one, if: .absent) == .rejected(.precondition))
    #expect(schedule.put(one, if: .revisions([report.revision + 1])) == .rejected(.precondition))
    var other = one
    other.fall = 1
    guard case .replaced(let changed) = schedule.put(other, if: .revisions([report.revision])) else {
      Issue.record("was not replaced")
      return
    }
    #expect(throws: ScheduleChangeError.precondition) {
      try schedule.remove("db", if: .revisions([report.revision]))
    }
    let both = TargetPrecondition.both(.present, .otherThan([changed.revision]))
    #expect(throws: ScheduleChangeError.precondition) { try schedule.pause("db", if: both) }
    #expect(throws: ScheduleChangeError.missing) { try schedule.pause("missing", if: .none) }
    // Its state may have changed.
    let kept = try schedule.pause("db", false, if: .otherThan([report.revision]))
    #expect(kept.revision == changed.revision && kept.definition == changed.definition)
    try schedule.remove("db", if: .revisions([changed.revision]))
    #expect(throws: ScheduleChangeError.missing) { try schedule.remove("db") }
  }

  @Test("The limit of targets allows changes of existing ones")
  func full() throws {
    let checker = Checker(monitor: bench.monitor, prober: prober)
    let small = CheckSchedule(monitor: bench.monitor, checker: checker, configuration: .init(limits: .init(targets: 1)))
    guard case .created = small.put(try definition("a")) else {
      Issue.record("was not created")
      return
    }
    #expect(small.put(try definition("b")) == .rejected(.quota(.targets(limit: 1, .all))))
    guard case .replaced = small.put(try definition("a", "tcp://10.0.0.8:1")) else {
      Issue.record("was not replaced")
      return
    }
  }

  @Test("A requested check shares a running one and ends with its target")
  func asked() async throws {
    prober.follow(nil)
    schedule.put(try definition("db"))
    let outcomes = Locked<[CheckResult.State?]>([])
    func ask() -> Bool { schedule.check("db") { outcome in outcomes.withLock { $0.append(outcome?.result.state) } } }
    #expect(ask() && ask())
    #expect(await eventually { () async in !prober.open.isEmpty })
    prober.answer { _ in Self.result(.up) }
    try await state(of: "db", becomes: .up)
    #expect(await eventually { () async in outcomes.withLock { $0 } == [.up, .up] })
    #expect(ask())
    #expect(await eventually { () async in !prober.open.isEmpty })
    _ = schedule.pause("db")
    #expect(outcomes.withLock { $0.last } == .some(nil) && prober.open.isEmpty)
    #expect(!ask())
    _ = schedule.pause("db", false)
    #expect(ask())
    try schedule.remove("db")
    #expect(outcomes.withLock { $0.count } == 4)
    #expect(!schedule.check("missing") { _ in })
  }

  @Test("Durations and counts out of range are clamped", arguments: [-1, 0, 1 << 62] as [Int64])
  func impossible(_ seconds: Int64) throws {
    prober.follow(nil)
    var definition = try definition("odd")
    definition.interval = .seconds(seconds)
    definition.timeout = .seconds(seconds)
    definition.fastInterval = .seconds(seconds)
    (definition.fall, definition.rise) = (Int(clamping: -seconds), 0)
    schedule.put(definition)
    let known = try #require(schedule.report(of: "odd")?.definition)
    #expect(known.interval > .zero && known.interval <= .seconds(86_400) && known.timeout > .zero)
    #expect(known.fastInterval <= known.interval && known.fall >= 1 && known.rise >= 1)
  }

  @Test("Default durations fit the interval")
  func derived() throws {
    let definition = TargetDefinition(id: "db", target: try CheckTarget("tcp://10.0.0.9:1"), interval: .seconds(2))
    #expect(definition.timeout == .milliseconds(1600) && definition.fastInterval == .seconds(1))
    let usual = TargetDefinition(id: "db", target: try CheckTarget("tcp://10.0.0.9:1"))
    #expect(usual.timeout == .seconds(5) && usual.fastInterval == .seconds(1))
  }

  @Test("The policy applies only to targets registered at run time")
  func policy() async throws {
    let policy = ContactPolicy(profile: .strict, allow: [IPPrefix(IPAddress(ipv4: 0x0a00_0000), length: 8)])
    let checker = Checker(monitor: bench.monitor, prober: prober)
    let careful = CheckSchedule(monitor: bench.monitor, checker: checker, configuration: .init(policy: { policy }))
    careful.put(try definition("a", "tcp://10.0.0.1:1"), origin: .configuration)
    careful.put(try definition("b", "tcp://10.0.0.2:1"), origin: .runtime)
    #expect(await eventually { () async in prober.requests.count >= 2 })
    // On a slow machine one may be due twice.
    let policies = Dictionary(prober.requests.map { ($0.target.description, $0.policy) }, uniquingKeysWith: { $1 })
    #expect(policies["tcp://10.0.0.1:1"] == .some(nil))
    #expect(policies["tcp://10.0.0.2:1"] == .some(policy))
  }

  @Test("A released schedule ends")
  func released() throws {
    weak var released: CheckSchedule?
    do {
      let schedule = CheckSchedule(
        monitor: bench.monitor, checker: Checker(monitor: bench.monitor, prober: prober))
      schedule.put(try definition("db"))
      released = schedule
      schedule.stop()
    }
    let end = ContinuousClock.now + .seconds(30)
    while released != nil, ContinuousClock.now < end {}
    #expect(released == nil)
  }
}
