import NetworkReachabilityTesting
import ReachabilityChecks
import Testing

@Suite("Code of the documentation")
struct DocumentationTests {
  @Test("Checking once: a closed port is refused")
  func checkOnce() async throws {
    let monitor = ReachabilityMonitor()
    try monitor.start()
    let checker = Checker(monitor: monitor)
    let outcome = await checker.check(CheckRequest(try CheckTarget("tcp://127.0.0.1:1")))
    let diagnosis = Diagnosis(of: outcome, in: monitor.snapshot)
    print(outcome.result.state, diagnosis.failure?.evidence ?? "")
    #expect(outcome.result.state == .down && outcome.result.reason == .refused)
    #expect(diagnosis.failure?.step == .tcp)
  }

  /// Never called: this runs for as long as its monitor does.
  func onASchedule(_ monitor: ReachabilityMonitor, _ checker: Checker) async throws {
    let schedule = CheckSchedule(monitor: monitor, checker: checker)
    let subscription = monitor.listen(to: .target) { update in
      if let target = update.registeredTarget { print(target.definition.id, target.status.state) }
    }
    schedule.put(TargetDefinition(id: "db", target: try CheckTarget("tcp://db.internal:5432")))
    subscription?.cancel()
  }

  @Test("Testing checks: the scripted clock determines every step")
  func withoutWaiting() throws {
    var script = KernelScript()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addDefault(via: "10.0.0.1", on: 2)
    let kernel = ScriptedKernel(script)
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let prober = ScriptedProber { _ in .init(.up, startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1)) }
    let checker = Checker(monitor: monitor, prober: prober)

    let clock = ScriptedClock()
    let schedule = CheckSchedule(monitor: monitor, checker: checker, clock: clock)
    let database = try CheckTarget("tcp://192.0.2.7:5432")
    schedule.put(TargetDefinition(id: "db", target: database, interval: .seconds(10)))
    #expect(schedule.report(of: "db")?.status.state == .unknown && prober.requests.isEmpty)
    clock.advance()
    #expect(schedule.report(of: "db")?.status.state == .up)
    clock.advance(by: .seconds(60))
    #expect((6...8).contains(prober.requests.count), "at once, and at its place in each of six intervals")

    prober.follow { _ in .init(.down, .refused, startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1)) }
    clock.advance(by: .seconds(60))
    #expect(schedule.report(of: "db")?.status.state == .down)
    #expect(schedule.report(of: "db")?.status.since.microseconds ?? 0 > 60_000_000, "by the script's clock")

    kernel.change([.routeRemoved]) { $0.removeDefaults(.ipv4) }
    kernel.advance(by: .milliseconds(10))
    clock.advance()
    #expect(schedule.report(of: "db")?.status.state == .unreachable)
  }

  @Test("An hour of checks passes without waiting")
  func anHour() throws {
    var script = KernelScript()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    let kernel = ScriptedKernel(script)
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let prober = ScriptedProber { _ in .init(.up, startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1)) }
    let clock = ScriptedClock()
    let checker = Checker(monitor: monitor, prober: prober)
    let schedule = CheckSchedule(monitor: monitor, checker: checker, clock: clock)
    // From 295.165 s on, a duration divided by a tick is sometimes slightly less than the exact number.
    schedule.put(TargetDefinition(id: "db", target: try CheckTarget("tcp://10.0.0.9:5432"), interval: .seconds(30)))
    clock.advance(by: .seconds(3_600))
    #expect((120...122).contains(prober.requests.count))
  }

  /// Never called.
  func inTheReadme(_ monitor: ReachabilityMonitor) async throws {
    let checker = Checker(monitor: monitor)
    let outcome = await checker.check(CheckRequest(try CheckTarget("https://db.internal:8443/health")))
    print(outcome.result.state, Diagnosis(of: outcome, in: monitor.snapshot).failure?.advice ?? "")
  }
}
