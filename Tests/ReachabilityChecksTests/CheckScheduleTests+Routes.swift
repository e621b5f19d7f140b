import Locks
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityChecks

/// The kernel's verdicts and the results of checks in various orders.
extension CheckScheduleTests {
  @Test("A route that returns during the registration is noticed")
  func registeredInBetween() async throws {
    // Another watch provides the verdict before the target exists.
    let (_, subscription) = try bench.record(.host, watching: [try ReachabilityTarget(host: "192.0.2.1")])
    let target = try definition("db", "tcp://192.0.2.1:1")
    for _ in 0..<500 {
      bench.loseDefault()
      bench.kernel.advance(by: Bench.settle)
      onThreads(2) { [bench, schedule] number in
        if number == 0 { bench.gainDefault() } else { schedule.put(target) }
      }
      try await state(of: "db", becomes: .up)
      guard schedule.report(of: "db")?.status.state == .up else { break }
      try schedule.remove("db")
    }
    subscription.cancel()
  }

  @Test("An on-link name needs no default route, but its link")
  func near() async throws {
    let bench = Bench(.withoutDefault, settle: .zero)
    try bench.monitor.start()
    let (recorder, subscription) = try bench.record([.target])
    let schedule = CheckSchedule(monitor: bench.monitor, checker: Checker(monitor: bench.monitor, prober: prober))
    prober.follow(nil)
    schedule.put(try definition("db", "tcp://db.invalid:1"))
    #expect(await eventually { () async in !prober.open.isEmpty })
    let route = try CheckTarget("tcp://db.invalid:1").routeTarget
    #expect(await eventually { () async in bench.monitor.verdict(of: route) != nil })
    prober.follow { _ in Self.result(.up) }
    prober.answer { _ in Self.result(.up) }
    func wait(for state: TargetState) async throws {
      #expect(await eventually(within: patience) { () async in schedule.report(of: "db")?.status.state == state })
    }
    try await wait(for: .up)
    let told = recorder.updates.compactMap(\.registeredTarget?.status.state)
    #expect(told.filter { $0 == .unreachable }.isEmpty, "\(told)")
    // Its responses end: without a verdict of the kernel the checks decide.
    prober.follow { _ in
      CheckResult(.unknown, .dnsTimeout, startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1))
    }
    bench.kernel.change { script in
      script.change("eth0") {
        $0.operationalState = .down
        $0.flags.subtract([.running, .lowerUp])
      }
      script.routes = []
    }
    _ = schedule.check("db") { _ in }
    try await wait(for: .unreachable)
    subscription.cancel()
  }

  @Test("A caller receives the kernel's present route, also before the loss is published")
  func awaited() async throws {
    schedule.put(try definition("db", "tcp://192.0.2.1:1"))
    try await state(of: "db", becomes: .up)
    // The settle time does not end.
    bench.loseDefault()
    let outcome = await withCheckedContinuation { continuation in
      #expect(schedule.check("db") { continuation.resume(returning: $0) })
    }
    #expect(
      outcome?.result.state == .unreachable && outcome?.result.reason == .noRoute, "\(String(describing: outcome))")
    #expect(schedule.report(of: "db")?.status.state == .up)
  }

  @Test("A scheduled check of a target with a published route is not looked up, and shares nothing")
  func published() async throws {
    schedule.put(try definition("db", "tcp://192.0.2.1:1"))
    try await state(of: "db", becomes: .up)
    prober.follow(nil)
    let checker = Checker(monitor: bench.monitor, prober: prober)
    let request = CheckRequest(try CheckTarget("tcp://192.0.2.1:1"))
    bench.loseDefault()
    let waits = [checker.checkRouted(request) { _ in }, checker.checkRouted(request) { _ in }]
    #expect(prober.open.count == 2, "the kernel refuses the packet, which causes the lookup")
    for wait in waits { wait.cancel() }
    let policy = ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0xc000_0201), length: 32)])
    let limited = CheckRequest(try CheckTarget("tcp://192.0.2.1:1"), policy: policy)
    let outcome = await withCheckedContinuation { continuation in
      _ = checker.checkAlone(limited) { continuation.resume(returning: $0) }
    }
    #expect(outcome.result.state == .unreachable, "a policy is about the present route")
  }

  @Test("After the monitor stops, only checks decide")
  func stopped() async throws {
    schedule.put(try definition("db", "tcp://192.0.2.1:1"))
    try await state(of: "db", becomes: .up)
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    try await state(of: "db", becomes: .unreachable)
    bench.monitor.stop()
    // There is no subscriber.
    bench.gainDefault()
    #expect(schedule.check("db") { _ in })
    try await state(of: "db", becomes: .up)
  }

  @Test("A check that contradicts the kernel's verdict causes a new lookup")
  func overruled() async throws {
    prober.follow(nil)
    schedule.put(try definition("db", "tcp://192.0.2.1:1"))
    #expect(await eventually { () async in !prober.open.isEmpty })
    // An outdated verdict at the end of the queue, as after reordering.
    let missing = HostVerdict(target: try CheckTarget("tcp://192.0.2.1:1").routeTarget, path: .none(.noRoute))
    schedule.guarded.withLock { $0.routes.observer.take(missing) }
    try await state(of: "db", becomes: .unreachable)
    prober.follow { _ in Self.result(.up) }
    prober.answer { _ in Self.result(.up) }
    try await state(of: "db", becomes: .up)
  }
}
