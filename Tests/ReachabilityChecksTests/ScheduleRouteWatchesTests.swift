import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import ReachabilityChecks

@Suite("ScheduleRouteWatches")
struct ScheduleRouteWatchesTests {
  let bench: Bench
  let observer = ScheduleRouteObserver {}

  init() throws {
    bench = try Bench.started()
    bench.monitor.attach(observer)
  }

  func definition(_ id: String) throws -> TargetDefinition {
    TargetDefinition(id: id, target: try CheckTarget("tcp://10.0.0.9:1"))
  }

  @Test("Registering many targets of one host costs each of them one report")
  func reports() throws {
    var watches = ScheduleRouteWatches(bench.monitor, reportingTo: observer)
    var reported: [String: Int] = [:]
    for number in 0..<1_000 {
      try watches.add(definition("t\(number)"))
      // The schedule's queue drains the changes now and then.
      guard number.isMultiple(of: 100) else { continue }
      bench.monitor.refresh()
      for change in observer.drain() { for id in watches.takeTargets(of: change) { reported[id, default: 0] += 1 } }
    }
    bench.monitor.refresh()
    for change in observer.drain() { for id in watches.takeTargets(of: change) { reported[id, default: 0] += 1 } }
    #expect(reported.count == 1_000, "each target receives the verdict")
    #expect(reported.values.reduce(0, +) <= 2_000, "\(reported.values.reduce(0, +)) reports")
    watches.removeAll()
  }

  @Test("A host that is removed and added again receives the present verdict")
  func addedAgain() throws {
    var watches = ScheduleRouteWatches(bench.monitor, reportingTo: observer)
    try watches.add(definition("a"))
    bench.monitor.refresh()
    try watches.add(definition("b"))
    try watches.remove(definition("a"))
    try watches.remove(definition("b"))
    try watches.add(definition("c"))
    bench.monitor.refresh()
    let changes = observer.drain()
    let last = try #require(changes.last)
    var received: [Set<String>] = []
    for change in changes { received.append(watches.takeTargets(of: change)) }
    #expect(received.last == ["c"] && last.verdict.path.status != .unknown)
    watches.removeAll()
  }
}
