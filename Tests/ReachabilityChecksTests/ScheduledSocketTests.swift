import ReachabilityChecks
import TestSupport
import Testing

@Suite("Scheduled checks with sockets")
struct ScheduledSocketTests {
  @Test("Targets are checked at their intervals by the prober's thread")
  func intervals() async throws {
    let monitor = ReachabilityMonitor()
    try monitor.start()
    let schedule = CheckSchedule(monitor: monitor, checker: Checker(monitor: monitor))
    // More than one tick of that thread starts.
    for number in 1...100 {
      let target = try CheckTarget("tcp://127.0.0.\(number):1")
      schedule.put(TargetDefinition(id: "t\(number)", target: target, interval: .milliseconds(100)))
    }
    let isRepeated = await eventually(within: .seconds(60)) { () async in
      schedule.reports().allSatisfy { $0.status.state == .down && $0.status.consecutiveFailures > 4 }
    }
    #expect(isRepeated)
    schedule.stop()
  }
}
