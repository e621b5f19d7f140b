import NetworkReachability
import ReachabilityModel
import Testing

@testable import ReachabilityChecks

/// Sequences of failures, recoveries and changes.
extension DependencyTests {
  /// Changes the definition of a target.
  private mutating func change(_ id: String, _ change: (inout TargetDefinition) -> Void) throws {
    let definition = try #require(bench.state.entries[id]?.definition).with(change)
    bench.record(bench.state.put(definition, .configuration, at: bench.now).change)
    bench.decide()
  }

  /// A core, a switch and a leaf that are all silent.
  private mutating func cutTree() throws {
    try bench.add("core", interval: .seconds(10))
    try bench.add("switch", [.init("core")], interval: .seconds(10))
    try bench.add("leaf", [.init("switch")], interval: .seconds(86_400))
    bench.run(for: .seconds(20))
    bench.silent = ["core", "switch", "leaf"]
    let entry = try #require(bench.state.entries["leaf"])
    bench.state.enqueue(entry, due: bench.uptime)
    bench.run(for: .seconds(60))
    #expect(bench.status("leaf")?.dependency == "core" && bench.status("switch")?.dependency == "core")
    _ = bench.takeLog()
  }

  @Test("The root moves when a target between it and a child does not depend on it any more")
  mutating func movedRoot() throws {
    try cutTree()
    try change("switch") { $0.dependsOn = [] }
    #expect(bench.takeLog().filter { $0.hasPrefix("leaf") } == ["leaf unreachable dependencyDown switch"])
  }

  @Test("A target that is down after the recovery of the root is the new root")
  mutating func successor() throws {
    try cutTree()
    bench.silent = ["switch", "leaf"]
    bench.run(for: .seconds(60))
    #expect(
      bench.takeLog() == ["core up", "switch down connectTimeout", "leaf unreachable dependencyDown switch"])
  }

  @Test("The last result of a parent decides when its checks find nothing")
  mutating func inconclusive() throws {
    try bench.add("router", interval: .seconds(5))
    try bench.add("shop", [.init("router")])
    bench.run(for: .seconds(20))
    bench.silent = ["router"]
    bench.run(for: .seconds(30))
    _ = bench.takeLog()
    bench.inconclusive = ["router"]
    bench.silent = ["shop"]
    bench.run(for: .seconds(100))
    #expect(bench.takeLog().filter { $0.hasPrefix("shop") } == ["shop unreachable dependencyDown router"])
  }

  @Test("More parents than slots are checked in turn")
  mutating func slots() throws {
    let count = 600
    for number in 0..<count {
      try bench.add("p\(number)", interval: .seconds(86_400))
      try bench.add("c\(number)", [.init("p\(number)")], interval: .seconds(600)) { $0.fall = 1 }
    }
    bench.run(for: .seconds(10))
    _ = bench.takeLog()
    bench.silent = Set(bench.state.entries.keys)
    for (id, entry) in bench.state.entries where id.hasPrefix("c") { bench.state.enqueue(entry, due: bench.uptime) }
    var most = 0
    for _ in 0..<100 {
      bench.run(for: .milliseconds(500))
      most = max(most, bench.state.dependencies.running)
    }
    #expect(most == Limits.dependencySlots && bench.state.dependencies.running == 0)
    #expect(bench.state.dependencies.questions.parents.isEmpty)
    #expect(bench.takeLog().filter { $0.hasPrefix("c") }.allSatisfy { $0.contains("unreachable dependencyDown") })
    #expect((0..<count).allSatisfy { bench.status("c\($0)")?.dependency == "p\($0)" })
  }

  @Test("An alternative that is resumed ends an outage of the others")
  mutating func resumed() throws {
    for id in ["a", "b"] { try bench.add(id, interval: .seconds(5)) }
    try bench.add("shop", [.init(anyOf: ["a", "b"])], interval: .seconds(86_400))
    bench.run(for: .seconds(20))
    try change("a") { $0.isPaused = true }
    bench.silent = ["b", "shop"]
    let entry = try #require(bench.state.entries["shop"])
    bench.state.enqueue(entry, due: bench.uptime)
    bench.run(for: .seconds(60))
    #expect(bench.status("shop")?.dependency == "b")
    try change("a") { $0.isPaused = false }
    bench.run(for: .seconds(30))
    #expect(bench.status("shop")?.state == .down)
  }

  @Test("A parent that is resumed has no result yet")
  mutating func resumedParent() throws {
    try bench.add("router", interval: .seconds(5))
    bench.silent = ["router"]
    bench.run(for: .seconds(60))
    #expect(bench.state.dependencies.state(of: "router", in: bench.state.entries) == .failing)
    for isPaused in [true, false] { try change("router") { $0.isPaused = isPaused } }
    #expect(bench.state.dependencies.state(of: "router", in: bench.state.entries) == .working)
  }

  @Test("A result of a parent before it failed again does not decide about a child")
  mutating func blips() throws {
    try bench.add("router", interval: .seconds(86_400)) { ($0.timeout, $0.fastInterval) = (.seconds(1), .seconds(1)) }
    try bench.add("shop", [.init("router")], interval: .seconds(10)) {
      ($0.timeout, $0.fastInterval, $0.fall) = (.seconds(1), .seconds(4), 2)
    }
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = ["shop", "router"]
    while bench.status("shop")?.consecutiveFailures == 0, bench.uptime < .seconds(60) {
      bench.run(for: .milliseconds(10))
    }
    let router = try #require(bench.state.entries["router"])
    bench.state.enqueue(router, due: bench.uptime)
    bench.run(for: .milliseconds(1_050))
    #expect(router.isBad)
    bench.silent = ["shop"]
    while router.isBad, bench.uptime < .seconds(60) { bench.run(for: .milliseconds(10)) }
    #expect(bench.status("shop")?.consecutiveFailures == 1)
    bench.silent = ["shop", "router"]
    bench.run(for: .seconds(15))
    #expect(bench.takeLog().filter { $0.hasPrefix("shop") } == ["shop unreachable dependencyDown router"])
  }

  @Test("Failures count as its own only after the good result of a parent, also while a child waits for it")
  mutating func failuresWhileWaiting() throws {
    try bench.add("router", interval: .seconds(86_400)) { $0.fastInterval = .seconds(30) }
    try bench.add("first", [.init("router")], interval: .seconds(3)) { $0.fall = 1 }
    try bench.add("shop", [.init("router")], interval: .seconds(10)) { $0.fall = 3 }
    bench.run(for: .seconds(20))
    _ = bench.takeLog()
    bench.silent = ["router", "first"]
    let router = try #require(bench.state.entries["router"])
    while !router.isBad, bench.uptime < .seconds(60) { bench.run(for: .milliseconds(10)) }
    bench.silent = ["shop", "router"]
    while bench.status("shop")?.isWaitingForDependency == false, bench.uptime < .seconds(60) {
      bench.run(for: .milliseconds(10))
    }
    #expect(bench.status("shop")?.isWaitingForDependency == true && router.isBad)
    bench.run(for: .seconds(8))
    bench.silent = ["shop"]
    bench.run(for: .seconds(60))
    let (good, down) = (bench.firstGood["router"], bench.times["shop down connectTimeout"])
    #expect(try #require(down) - #require(good) > .seconds(2))
  }
}
