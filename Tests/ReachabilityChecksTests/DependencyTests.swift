import NetworkReachability
import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityChecks

/// One outage is one `down`, in any order of checks.
@Suite("Dependencies of targets")
struct DependencyTests {
  var bench = DependencyBench()
  /// Whether the long tests run, with thousands of targets.
  private static let isLong = Program.environmentVariable("REACHD_CUTS") != nil

  private func count(_ log: [String], _ text: String) -> Int { log.count { $0.contains(text) } }

  @Test(
    "A router with children is the only one that is down",
    arguments: [Duration.seconds(5), .seconds(30), .seconds(86_400)]
  )
  mutating func router(_ interval: Duration) throws {
    try bench.add("router", interval: interval)
    for number in 0..<200 { try bench.add("t\(number)", [.init("router")]) }
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = Set(bench.state.entries.keys)
    bench.run(for: .seconds(60))
    let log = bench.takeLog()
    #expect(count(log, " down ") == 1 && log.contains("router down connectTimeout"))
    #expect(count(log, " unreachable dependencyDown router") == 200 && log.count == 201, "\(log.suffix(5))")
    bench.silent = []
    bench.run(for: .seconds(40))
    let recovery = bench.takeLog()
    let good = bench.firstGood["router"] ?? .zero
    for number in 0..<200 {
      let up = try #require(bench.times["t\(number) up"])
      #expect(interval > .seconds(60) || up <= good + .seconds(5) + .seconds(2), "t\(number)")
    }
    if interval < .seconds(60) {
      #expect(count(recovery, " up") == 201 && recovery.count == 201, "\(recovery.filter { !$0.hasSuffix(" up") })")
    } else {
      // Their own checks find it, long before the router's.
      #expect(count(recovery, " up") == 200 && recovery.count == 200)
    }
  }

  @Test("A parent that is down before its children keeps them from being down")
  mutating func parentFirst() throws {
    try bench.add("router", interval: .seconds(5))
    try bench.add("shop", [.init("router")], interval: .seconds(600))
    bench.run(for: .seconds(20))
    bench.silent = ["router", "shop"]
    bench.run(for: .seconds(1_200))
    #expect(bench.takeLog().suffix(2) == ["router down connectTimeout", "shop unreachable dependencyDown router"])
    bench.silent = []
    bench.run(for: .seconds(30))
    // Long before its next regular check.
    #expect(bench.takeLog() == ["shop up", "router up"])
  }

  @Test("A child that fails alone is down, after its parent was checked once")
  mutating func childAlone() throws {
    try bench.add("router", interval: .seconds(86_400))
    try bench.add("shop", [.init("router")])
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    let checks = bench.checks["router"]
    bench.silent = ["shop"]
    bench.run(for: .seconds(60))
    #expect(bench.takeLog() == ["shop down connectTimeout"])
    #expect(bench.checks["router"] == checks.map { $0 + 1 })
    // It began before: what happens to its parent changes nothing.
    bench.silent = ["shop", "router"]
    _ = bench.state.put(
      try #require(bench.state.entries["router"]?.definition).with { $0.interval = .seconds(5) }, .configuration,
      at: bench.now)
    bench.run(for: .seconds(60))
    #expect(bench.takeLog().filter { $0.hasPrefix("shop") }.isEmpty)
    #expect(bench.status("shop")?.state == .down)
  }

  @Test("The decision about a child that fails alone costs one round trip to its parents, and has a limit")
  mutating func delay() throws {
    func down(_ parents: [TargetDependency], silentAfterwards: Set<String>) throws -> Duration {
      var bench = DependencyBench()
      for id in ["a", "b"] { try bench.add(id, interval: .seconds(86_400)) }
      try bench.add("shop", parents)
      bench.run(for: .seconds(20))
      bench.silent = silentAfterwards
      bench.run(for: .seconds(120))
      return try #require(bench.times["shop down connectTimeout"])
    }
    let without = try down([], silentAfterwards: ["shop"])
    // The clock of the bench has steps of a tick.
    #expect(try down([.init("a"), .init("b")], silentAfterwards: ["shop"]) - without <= .milliseconds(10))
    let alternatives = try down([.init(anyOf: ["a", "b"])], silentAfterwards: ["shop", "a"])
    #expect(alternatives - without <= .seconds(1) + .seconds(2) * 2)
  }

  @Test("One lost echo of a parent hides a dead child only until its next good result")
  mutating func lostEcho() throws {
    try bench.add("router", interval: .seconds(86_400))
    try bench.add("shop", [.init("router")])
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = ["shop", "router"]
    while bench.status("shop")?.state != .unreachable, bench.uptime < .seconds(120) {
      bench.run(for: .milliseconds(100))
    }
    #expect(bench.takeLog() == ["shop unreachable dependencyDown router"])
    bench.silent = ["shop"]
    bench.run(for: .seconds(30))
    #expect(bench.takeLog() == ["shop down connectTimeout"])
    #expect(bench.status("router")?.state == .up)
    // Its own failures before the decision count: one more is enough.
    let (good, down) = (bench.firstGood["router"], bench.times["shop down connectTimeout"])
    #expect(try #require(down) - #require(good) <= .seconds(1) + .seconds(2) + .milliseconds(10))
  }

  @Test("The root is found at the core, in any order of failures")
  mutating func tree() throws {
    try bench.add("core", interval: .seconds(30))
    let (switches, leaves) = Self.isLong ? (100, 50) : (10, 20)
    for number in 0..<switches {
      try bench.add("switch\(number)", [.init("core")], interval: .seconds(20), timeout: .seconds(5))
      for leaf in 0..<leaves { try bench.add("leaf\(number)-\(leaf)", [.init("switch\(number)")]) }
    }
    bench.run(for: .seconds(60))
    _ = bench.takeLog()
    bench.silent = Set(bench.state.entries.keys)
    bench.run(for: .seconds(120))
    let log = bench.takeLog()
    #expect(log.filter { $0.contains(" down ") } == ["core down connectTimeout"])
    for (id, entry) in bench.state.entries where id != "core" {
      let status = entry.report.status
      #expect(status.reason == .dependencyDown && status.dependency == "core", "\(id): \(status)")
    }
    bench.silent = []
    bench.run(for: .seconds(60))
    #expect(count(bench.takeLog(), " down ") == 0)
    #expect(bench.state.entries.values.allSatisfy { $0.report.status.state == .up })
  }

  @Test("Alternatives break together, and paused ones do not count")
  mutating func alternatives() throws {
    try bench.add("a", interval: .seconds(5))
    try bench.add("b", interval: .seconds(5))
    try bench.add("shop", [.init(anyOf: ["a", "b"])])
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = ["a"]
    bench.run(for: .seconds(30))
    #expect(bench.takeLog() == ["a down connectTimeout"])
    bench.silent = ["a", "b", "shop"]
    bench.run(for: .seconds(30))
    #expect(Set(bench.takeLog()) == ["b down connectTimeout", "shop unreachable dependencyDown a"])
    // The paused one does not decide: the other alone is enough.
    bench.silent = ["b", "shop"]
    let paused = try #require(bench.state.entries["a"]?.definition).with { $0.isPaused = true }
    _ = bench.state.put(paused, .configuration, at: bench.now)
    bench.run(for: .seconds(30))
    #expect(bench.status("shop")?.reason == .dependencyDown)
    let other = try #require(bench.state.entries["b"]?.definition).with { $0.isPaused = true }
    _ = bench.state.put(other, .configuration, at: bench.now)
    bench.run(for: .seconds(30))
    #expect(bench.status("shop")?.state == .down, "all alternatives are paused: the entry is intact")
  }

  @Test("A parent that flaps does not hide a dead child, which is not checked more often than stated")
  mutating func flapping() throws {
    let count = Self.isLong ? 1_000 : 150
    try bench.add("router", interval: .seconds(1), timeout: .milliseconds(200)) { $0.fastInterval = .milliseconds(500) }
    for number in 0..<count { try bench.add("t\(number)", [.init("router")], interval: .seconds(60)) }
    bench.run(for: .seconds(70))
    _ = bench.takeLog()
    let checks = bench.checks
    bench.silent = ["t7"]
    for second in 0..<300 {
      if second.isMultiple(of: 2) { bench.silent.insert("router") } else { bench.silent.remove("router") }
      bench.run(for: .seconds(1))
    }
    #expect(bench.status("t7")?.state == .down, "\(bench.takeLog())")
    for number in 0..<count where number != 7 {
      let made = (bench.checks["t\(number)"] ?? 0) - (checks["t\(number)"] ?? 0)
      // The regular ones, and at most one for recoveries in five seconds.
      #expect(made <= 5 + 60, "t\(number): \(made)")
      #expect(bench.status("t\(number)")?.state == .up)
    }
  }

  @Test("A good result ends the wait, and so does a pause")
  mutating func endOfWait() throws {
    try bench.add("router", interval: .seconds(86_400), timeout: .seconds(30))
    for id in ["a", "b", "c"] { try bench.add(id, [.init("router")], timeout: .seconds(1)) }
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = ["a", "b", "c", "router"]
    func isWaiting(_ id: String) -> Bool { bench.status(id)?.isWaitingForDependency == true }
    for id in ["a", "b", "c"] {
      while !isWaiting(id), bench.uptime < .seconds(120) { bench.run(for: .milliseconds(50)) }
    }
    for id in ["a", "b", "c"] {
      #expect(bench.status(id)?.isWaitingForDependency == true && bench.status(id)?.state == .up)
      #expect(bench.status(id)?.isPending == true)
    }
    bench.silent.remove("a")
    let paused = try #require(bench.state.entries["b"]?.definition).with { $0.isPaused = true }
    bench.record(bench.state.put(paused, .configuration, at: bench.now).change)
    bench.run(for: .seconds(8))
    #expect(bench.status("a")?.isWaitingForDependency == false && bench.status("a")?.state == .up)
    #expect(bench.takeLog() == ["b paused"])
    bench.record(bench.state.put(paused.with { $0.isPaused = false }, .configuration, at: bench.now).change)
    bench.run(for: .seconds(200))
    #expect(bench.takeLog().filter { $0.contains(" down ") } == ["router down connectTimeout"])
  }

  @Test("A wait has a limit, after which the child is down")
  mutating func expiry() throws {
    try bench.add("router", interval: .seconds(86_400))
    try bench.add("shop", [.init("router")])
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = ["shop", "router"]
    // A check that neither answers nor ends.
    let entry = try #require(bench.state.entries["router"])
    entry.activity = .running(run: .max, since: bench.uptime, slot: .scheduled)
    bench.run(for: .seconds(75))
    #expect(bench.takeLog() == ["shop down connectTimeout"])
    #expect(bench.state.statistics.dependencyTimeouts == 1)
  }

  @Test("Hundreds of failing children wait for one check of their parent")
  mutating func manyChildren() throws {
    try bench.add("router", interval: .seconds(86_400))
    for number in 0..<500 { try bench.add("t\(number)", [.init("router")], interval: .seconds(30)) }
    bench.run(for: .seconds(60))
    let before = bench.checks["router"] ?? 0
    bench.silent = Set(bench.state.entries.keys).subtracting(["router"])
    _ = bench.takeLog()
    bench.run(for: .seconds(60))
    // At most one a second.
    #expect((bench.checks["router"] ?? 0) - before <= 61)
    #expect(count(bench.takeLog(), " down connectTimeout") == 500)
  }

  @Test("A parent that is deleted or not named any more has recovered")
  mutating func removal() throws {
    try bench.add("router", interval: .seconds(5))
    try bench.add("other", interval: .seconds(5))
    try bench.add("a", [.init("router")], interval: .seconds(600))
    try bench.add("b", [.init("router")], interval: .seconds(600))
    bench.run(for: .seconds(600))
    bench.silent = ["router", "a", "b"]
    bench.run(for: .seconds(1_200))
    #expect(bench.status("a")?.dependency == "router" && bench.status("b")?.dependency == "router")
    _ = bench.takeLog()
    let changed = try #require(bench.state.entries["b"]?.definition).with { $0.dependsOn = [.init("other")] }
    bench.record(bench.state.put(changed, .configuration, at: bench.now).change)
    bench.run(for: .seconds(30))
    #expect(bench.status("b")?.state == .down && bench.status("a")?.state == .unreachable)
    _ = bench.state.remove("router", at: bench.now)
    bench.run(for: .seconds(30))
    #expect(bench.status("a")?.state == .down)
  }
}

extension TargetDefinition {
  /// A changed copy.
  func with(_ change: (inout TargetDefinition) -> Void) -> TargetDefinition {
    var copy = self
    change(&copy)
    return copy
  }
}
