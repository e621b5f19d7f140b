import ReachabilityModel
import Testing

@testable import ReachabilityChecks

/// The times of regular and fast checks.
extension ScheduleStateTests {
  @Test("Regular checks share their times, and a fast interval is exact to one tick")
  mutating func sharedTimes() throws {
    for number in 0..<200 {
      _ = state.put(try definition("t\(number)", "10.0.0.\(number)") { $0.interval = .seconds(1) }, .runtime, at: now)
    }
    let times = Set(state.entries.values.map(\.due))
    #expect((50...100).contains(times.count), "\(times.count)")
    var other = ScheduleStateTests()
    let target = try definition("db") {
      $0.fastInterval = .milliseconds(100)
      $0.fall = 5
    }
    _ = other.state.put(target, .runtime, at: other.now)
    try other.check(.up)
    try other.check(.down, .refused)
    for _ in 0..<3 {
      let before = other.uptime
      other.uptime += .microseconds(50)
      try other.check(.down, .refused)
      #expect((Duration.milliseconds(100)...Duration.milliseconds(105)).contains(other.uptime - before))
    }
  }
}
