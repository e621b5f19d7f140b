import ReachabilityChecks
import Testing

@Suite("The code that the documentation shows")
struct DocumentationTests {
  @Test("Checking once: where nobody listens, the connection is the answer")
  func checkOnce() async throws {
    let monitor = ReachabilityMonitor()
    try monitor.start()
    let checker = Checker(monitor: monitor)
    let outcome = await checker.check(ProbeRequest(try ProbeTarget("tcp://127.0.0.1:1")))
    let explanation = Explanation(of: outcome, in: monitor.snapshot)
    print(outcome.result.state, explanation.answer?.evidence ?? "")
    #expect(outcome.result.state == .down && outcome.result.reason == .refused)
    #expect(explanation.answer?.rung == .tcp)
  }

  /// Never called: this runs for as long as its monitor does.
  func onASchedule(_ monitor: ReachabilityMonitor, _ checker: Checker) async throws {
    let schedule = CheckSchedule(monitor: monitor, checker: checker)
    schedule.put(TargetDefinition(id: "db", target: try ProbeTarget("tcp://db.internal:5432")))
    for await update in monitor.updates(of: .target) {
      if let target = update.registeredTarget { print(target.definition.id, target.status.state) }
    }
  }

  /// Never called.
  func inTheReadme(_ monitor: ReachabilityMonitor) async throws {
    let checker = Checker(monitor: monitor)
    let outcome = await checker.check(ProbeRequest(try ProbeTarget("https://db.internal:8443/health")))
    print(outcome.result.state, Explanation(of: outcome, in: monitor.snapshot).answer?.advice ?? "")
  }
}
