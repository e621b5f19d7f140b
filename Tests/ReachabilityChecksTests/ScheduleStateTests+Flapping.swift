import NetworkReachability
import ReachabilityModel
import Testing

@testable import ReachabilityChecks

extension ScheduleStateTests {
  @Test("A flapping target has at most one event a second for its results, and the last state is published")
  mutating func flappingEvents() throws {
    let fast = try definition("db") { definition in
      definition.interval = .milliseconds(100)
      definition.fastInterval = .milliseconds(100)
      definition.timeout = .milliseconds(50)
      (definition.fall, definition.rise) = (1, 1)
    }
    _ = state.put(fast, .runtime, at: now)
    var events: [(at: Duration, change: EngineTargetChange)] = []
    for number in 0..<200 {
      if let change = try check(number % 2 == 0 ? .up : .down, number % 2 == 0 ? nil : .refused) {
        events.append((uptime, change))
      }
    }
    let flapping = events.drop { !$0.change.report.status.isFlapping }.map(\.at)
    #expect(flapping.count > 5 && zip(flapping, flapping.dropFirst()).allSatisfy { $1 - $0 >= Limits.flappingReports })
    #expect(events.count <= 7 + 20, "\(events.count)")
    // It settles: the last event has the present state, and each begins where the one before has ended.
    while state.entries["db"]?.report.status.isFlapping == true {
      if let change = try check(.down, .refused) { events.append((uptime, change)) }
    }
    #expect(events.last?.change.report.status.state == .down)
    let states = events.map(\.change.report.status.state)
    #expect(events.dropFirst().map(\.change.from) == states.dropLast(), "\(events.map { ($0.change.from, $0.at) })")
    #expect(state.entries["db"]?.report.changes == UInt64(events.count))
  }

  @Test("A lost route of a flapping target is published immediately")
  mutating func flappingRoute() throws {
    _ = state.put(
      try definition("db") { definition in
        definition.interval = .milliseconds(100)
        definition.timeout = .milliseconds(50)
        (definition.fall, definition.rise) = (1, 1)
      }, .runtime, at: now)
    for number in 0..<40 { try check(number % 2 == 0 ? .up : .down, number % 2 == 0 ? nil : .refused) }
    let missing = HostVerdict(target: try ReachabilityTarget(host: "10.0.0.9"), path: .none(.linkDown))
    let change = state.routeChanged("db", missing, isFirst: false, [.carrierLost], at: now)
    #expect(change?.report.status.state == .unreachable)
  }
}
